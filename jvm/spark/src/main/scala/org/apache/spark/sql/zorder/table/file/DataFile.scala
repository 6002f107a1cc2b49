package org.apache.spark.sql.zorder.table.file

import org.apache.hadoop.fs.Path

/**
 * One data file of a table's snapshot.
 *
 * @param path
 *   full path, scheme included
 * @param partition
 *   partition directories as in the path, e.g. `day=2026-01-01/h=3`; empty when unpartitioned
 * @param deleted
 *   how many of its rows a format marks as deleted without rewriting the file; None if it cannot tell
 * @param deletedShare
 *   which share of its rows that is, estimated from the format's metadata
 * @param timestamps
 *   min and max, in microseconds, of timestamps that have none in the file (INT96), by their names in the file, where
 *   the format keeps them
 */
final case class DataFile(
    path: String,
    length: Long,
    modified: Long,
    partition: String,
    deleted: Option[Long] = Some(0L),
    deletedShare: Double = 0.0,
    timestamps: Map[Seq[String], (Long, Long)] = Map.empty)

object DataFile {

  /** A file's path below `root`, as in run records; the full path of a file that lies elsewhere. */
  def below(root: Path, file: DataFile): String = {
    val base = PathText.of(root) + "/"
    val path = new Path(file.path).toUri.getPath
    if (path.startsWith(base)) path.substring(base.length) else file.path
  }
}

package org.apache.spark.sql.zorder.table.file

import java.util.Locale

import org.apache.hadoop.fs.Path
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils.{DEFAULT_PARTITION_NAME, unescapePathName}
import org.apache.spark.sql.catalyst.expressions.{Cast, Literal}
import org.apache.spark.sql.types.{StringType, StructType}
import org.apache.spark.unsafe.types.UTF8String

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
 * @param own
 *   how the format itself reads the file, if Hadoop's file systems do not reach it
 */
final case class DataFile(
    path: String,
    length: Long,
    modified: Long,
    partition: String,
    deleted: Option[Long] = Some(0L),
    deletedShare: Double = 0.0,
    timestamps: Map[Seq[String], (Long, Long)] = Map.empty,
    own: Option[FormatFiles] = None)

object DataFile {

  /** A file's path below `root`, as in run records; the full path of a file that lies elsewhere. */
  def below(root: Path, file: DataFile): String =
    PathText.below(new Path(file.path), root).getOrElse(file.path)
}

/** The files of one partition directory (empty name when unpartitioned), as a run listed them at its start. */
final case class PinnedPartition(directory: String, files: Seq[DataFile]) {
  def bytes: Long = files.map(_.length).sum

  /** With some of its files, as they are now. */
  def only(chosen: DataFile => Option[DataFile]): PinnedPartition =
    copy(files = files.flatMap(f => chosen(f)))
}

object PinnedPartition {

  /** Files by the partitions that they are in. */
  def of(files: Seq[DataFile]): IndexedSeq[PinnedPartition] =
    files.groupBy(_.partition).toIndexedSeq.map { case (directory, inside) =>
      PinnedPartition(directory, inside)
    }
}

/** The values that a partition directory's name stands for. */
private[zorder] object PartitionValues {

  /** As Spark writes them: it makes NULL of an empty text. */
  def asWritten(directory: String, schema: StructType, timeZone: String): Seq[Literal] =
    of(directory, schema, timeZone).map(v =>
      if (v.value == UTF8String.EMPTY_UTF8) Literal.create(null, v.dataType) else v)

  /**
   * @param directory
   *   such as `day=2026-01-01/h=3`; empty when unpartitioned
   * @return
   *   one literal per field of `schema`, in the table's types
   */
  def of(directory: String, schema: StructType, timeZone: String): Seq[Literal] = {
    val named = directory.split('/').filter(_.nonEmpty).map { part =>
      val at = part.indexOf('=')
      unescapePathName(part.take(at)).toLowerCase(Locale.ROOT) -> unescapePathName(part.drop(at + 1))
    }.toMap
    schema.map { field =>
      val raw = named(field.name.toLowerCase(Locale.ROOT))
      if (raw == DEFAULT_PARTITION_NAME) Literal.create(null, field.dataType)
      else {
        val text = Literal.create(UTF8String.fromString(raw), StringType)
        Literal(Cast(text, field.dataType, Some(timeZone)).eval(), field.dataType)
      }
    }
  }
}

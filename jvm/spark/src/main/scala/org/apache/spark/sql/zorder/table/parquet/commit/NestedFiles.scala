package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FileMoves}
import org.apache.spark.sql.zorder.table.parquet.journal.SwapUnit

/**
 * Files in `mon=1/mon=1`, which nobody reads. A job's committer that renames its directory to `mon=1` on HDFS moves it
 * into that directory where one has just appeared there. Its rows are appended ones.
 */
private[parquet] object NestedFiles {

  def lift(fs: FileSystem, unit: SwapUnit): Unit =
    if (unit.partition.nonEmpty) lift(fs, unit.target)

  /**
   * Moves them up.
   *
   * @param dir
   *   of a partition
   */
  def lift(fs: FileSystem, dir: Path): Unit = {
    val nested = new Path(dir, dir.getName)
    val tree = DirectoryListing.walk(fs, nested)
    val found = if (tree.writer.isDefined) Nil else tree.data
    found.foreach(f => FileMoves.rename(fs, new Path(nested, f.rel), new Path(dir, f.rel)))
    if (found.nonEmpty) {
      FileMoves.deleteEmptyDirs(fs, nested)
      ()
    }
  }
}

package org.apache.spark.sql.zorder.table.parquet.files

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderConflictException

/** Jobs that write into a table while it is being rewritten, recognised by their scratch directories. */
private[zorder] object ActiveWriters {

  /**
   * Waits until there are none.
   *
   * @return
   *   what lies below `root` then
   * @throws ZOrderConflictException
   *   if one is still there after `waitMs`
   */
  def await(fs: FileSystem, root: Path, waitMs: Long): DirectoryListing = {
    val end = System.nanoTime + waitMs * 1000000L
    var tree = DirectoryListing.walk(fs, root)
    while (tree.writer.isDefined && System.nanoTime < end) {
      Thread.sleep(math.min(200L, math.max(1L, waitMs)))
      tree = DirectoryListing.walk(fs, root)
    }
    tree.writer.foreach(dir => stop(root, dir))
    tree
  }

  def stop(root: Path, dir: String): Nothing =
    throw new ZOrderConflictException(
      s"A job is writing to the table ($root/$dir is there); nothing was changed, " +
        "run it again when that job is done, or delete that directory if no job is running.")
}

package org.apache.spark.sql.zorder.table.parquet.files

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.storage.TextFiles

/** Jobs that write into a table while it is being rewritten, recognised by their scratch directories. */
private[zorder] object ActiveWriters {

  /**
   * Waits until there are none in `dir`.
   *
   * @return
   *   what lies below it then
   * @throws ZOrderConflictException
   *   if one is still there after `waitMs`
   */
  def await(fs: FileSystem, dir: Path, waitMs: Long): DirectoryListing =
    awaited(waitMs, DirectoryListing.walk(fs, dir))(_.writer.map(dir -> _))

  /**
   * Waits until there are none in some directories of a table, nor in those above them up to the table's own: a job that
   * writes several partitions has its scratch directory there.
   *
   * @return
   *   what lies below each of the directories then
   */
  def await(fs: FileSystem, root: Path, dirs: Seq[Path], waitMs: Long): Seq[DirectoryListing] =
    awaited(waitMs, look(fs, root, dirs))(_.writer).listings

  /** (directory, its scratch directory) of such a job. */
  def find(fs: FileSystem, root: Path, dirs: Seq[Path]): Option[(Path, String)] =
    look(fs, root, dirs).writer

  /** Listings as far as the first writer. */
  private case class Look(writer: Option[(Path, String)], listings: Seq[DirectoryListing])

  /** Above first: a job that is not there any more has put its files into the directories, which are listed then. */
  private def look(fs: FileSystem, root: Path, dirs: Seq[Path]): Look = {
    val top = fs.makeQualified(root)
    def within(dir: Path) = dir == top || dir.toString.startsWith(s"$top/")
    val above = dirs.flatMap(d =>
      Iterator.iterate(fs.makeQualified(d).getParent)(_.getParent)
        .takeWhile(p => p != null && within(p)))
    val own = dirs.map(d => fs.makeQualified(d)).toSet
    val several = (top +: above).distinct.filterNot(own).iterator.flatMap(dir =>
      TextFiles.children(fs, dir).map(_.getPath.getName).find(DirectoryListing.isWriter).map(dir -> _))
      .take(1).toList.headOption
    dirs.foldLeft(Look(several, Vector.empty)) { (seen, dir) =>
      if (seen.writer.isDefined) seen
      else {
        val tree = DirectoryListing.walk(fs, dir)
        Look(tree.writer.map(dir -> _), seen.listings :+ tree)
      }
    }
  }

  private def awaited[A](waitMs: Long, look: => A)(writer: A => Option[(Path, String)]): A = {
    val end = System.nanoTime + waitMs * 1000000L
    var seen = look
    while (writer(seen).isDefined && System.nanoTime < end) {
      Thread.sleep(math.min(200L, math.max(1L, waitMs)))
      seen = look
    }
    writer(seen).foreach { case (dir, scratch) => stop(dir, scratch) }
    seen
  }

  def stop(root: Path, dir: String): Nothing =
    throw new ZOrderConflictException(
      s"A job is writing to the table ($root/$dir is there); nothing was changed, " +
        "run it again when that job is done, or delete that directory if no job is running.")
}

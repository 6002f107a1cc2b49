package org.apache.spark.sql.zorder.table.parquet.files

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.file.{DataFile, PathText}
import org.apache.spark.sql.zorder.table.storage.{DriverReads, TextFiles}

/**
 * A file below a directory.
 *
 * @param rel
 *   path relative to the directory
 * @param modified
 *   milliseconds since the epoch
 */
private[zorder] final case class ListedFile(rel: String, length: Long, modified: Long) {

  def name: String = rel.substring(rel.lastIndexOf('/') + 1)

  /** The directories that it lies in; of a table's file, those of its partition. */
  def parent: String = rel.substring(0, math.max(0, rel.lastIndexOf('/')))

  /** What a copy in another directory shares with it, even where the time of a file cannot be set. */
  def identity: (String, Long) = (rel, length)

  /** The file by its full path, if it lies below `dir`: as journals name late files. */
  def under(dir: Path): ListedFile = copy(rel = new Path(dir, rel).toString)

  /** Spark's rule: not hidden, in no hidden directory, below partition directories only, and not empty. */
  def isData: Boolean = length > 0 && isNamedAsData

  /** As [[isData]], empty or not. */
  def isNamedAsData: Boolean = {
    val names = rel.split('/')
    !names.exists(DirectoryListing.isHidden) && names.init.forall(_.contains('='))
  }
}

/**
 * Everything below a directory, hidden or not, listed in one walk.
 *
 * @param dirs
 *   relative paths
 * @param statuses
 *   of the files, in their order
 */
private[zorder] final case class DirectoryListing(
    root: Path,
    files: Seq[ListedFile],
    dirs: Seq[String],
    statuses: Seq[FileStatus]) {

  def isEmpty: Boolean = files.isEmpty && dirs.isEmpty

  lazy val data: Seq[ListedFile] = files.filter(_.isData)

  /** The scratch directory of an unfinished job, if there is one. */
  def writer: Option[String] = scratchDirs.headOption

  /** The scratch directories of unfinished jobs. */
  def scratchDirs: Seq[String] =
    dirs.filter(d => DirectoryListing.isScratch(d.substring(d.lastIndexOf('/') + 1)))

  def dataFiles(partitionOf: ListedFile => String): Seq[DataFile] =
    data.map(f => DataFile(s"$root/${f.rel}", f.length, f.modified, partitionOf(f))).sortBy(_.path)
}

private[zorder] object DirectoryListing {

  /** Empty if the directory does not exist. */
  def walk(fs: FileSystem, root: Path): DirectoryListing = {
    val files = ArrayBuffer.empty[ListedFile]
    val dirs = ArrayBuffer.empty[String]
    val statuses = ArrayBuffer.empty[FileStatus]
    def visit(dir: Path, prefix: String): Unit = TextFiles.children(fs, dir).foreach { s =>
      val rel = prefix + s.getPath.getName
      if (s.isDirectory) {
        dirs += rel
        // what is in a job's scratch directory changes all the time and is no data
        if (!isScratch(s.getPath.getName)) visit(s.getPath, rel + "/")
      } else {
        files += ListedFile(rel, s.getLen, s.getModificationTime)
        statuses += s
      }
    }
    visit(root, "")
    DirectoryListing(fs.makeQualified(root), files.toVector, dirs.toVector, statuses.toVector)
  }

  /**
   * Whether Spark skips the file in listings. Not `HadoopFSUtils.shouldFilterOutPathName`, which lets the
   * Parquet summaries `_metadata` and `_common_metadata` through.
   */
  def isHidden(name: String): Boolean =
    (name.startsWith("_") && !name.contains("=")) || name.startsWith(".") || name.endsWith("._COPYING_")

  /** Whether a job keeps in such a directory what its tasks write. */
  def isScratch(name: String): Boolean =
    name == "_temporary" || name.startsWith(".spark-staging-") || name.startsWith("__magic")
}

/**
 * Hidden directories inside that of a managed table. `.z<txn>` holds the partitions that a run has written,
 * `.z<txn>.old` the old ones that it found where Spark makes partitions. Listings skip both, and DROP deletes
 * them.
 */
private[zorder] object HiddenDirectories {
  private val Prefix = ".z"
  private val Old = ".old"

  def fresh(root: Path, txn: String): Path = new Path(root, s"$Prefix$txn")
  def retired(root: Path, txn: String): Path = new Path(root, s"$Prefix$txn$Old")
  def isOurs(name: String): Boolean = name.matches("\\.z[A-Za-z0-9]{6,}(\\.old)?")

  /** All that exist. */
  def all(fs: FileSystem, root: Path): Seq[Path] =
    TextFiles.children(fs, root).filter(s => s.isDirectory && isOurs(s.getPath.getName)).map(_.getPath)

  /** Whether `dir` is below `root` and a listing of `root` finds its files. */
  def isVisible(root: Path, dir: Path): Boolean =
    PathText.below(dir, root).exists(!_.split('/').exists(DirectoryListing.isHidden))

  /** Our hidden directory that `dir` lies in, if it does. */
  def topOf(root: Path, dir: Path): Option[Path] =
    PathText.below(dir, root).map(_.takeWhile(_ != '/')).filter(isOurs).map(new Path(root, _))
}

/**
 * Writers at work in a table while it is being rewritten, recognised by their scratch directories, or by files that they
 * are going to rename.
 */
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

  /** As `await`, also for uploads, whose files must not be copied. */
  def awaitUploads(fs: FileSystem, dir: Path, waitMs: Long): DirectoryListing =
    awaited(waitMs, DirectoryListing.walk(fs, dir))(jobOrUpload(fs, _).map(dir -> _))

  /**
   * Waits until there are none in some directories of a table, nor in those above them up to the table's own:
   * a job that writes several partitions has its scratch directory there.
   *
   * @return
   *   what lies below each of the directories then
   */
  def await(fs: FileSystem, root: Path, dirs: Seq[Path], waitMs: Long): Seq[DirectoryListing] =
    awaited(waitMs, look(fs, root, dirs)(_.writer))(_.writer).listings

  /** As `await`, also for uploads, whose files must not be copied. */
  def awaitUploads(fs: FileSystem, root: Path, dirs: Seq[Path], waitMs: Long): Seq[DirectoryListing] =
    awaited(waitMs, look(fs, root, dirs)(jobOrUpload(fs, _)))(_.writer).listings

  /** (directory, its scratch directory) of such a job. */
  def find(fs: FileSystem, root: Path, dirs: Seq[Path]): Option[(Path, String)] =
    look(fs, root, dirs)(_.writer).writer

  /** What shows that somebody is at work, relative to the listed directory. */
  def jobOrUpload(fs: FileSystem, tree: DirectoryListing): Option[String] =
    tree.writer.orElse(UnfinishedFiles.upload(fs, tree))

  /** The first writer, and the listings as far as it: none if it writes several directories. */
  private case class WriterSearch(writer: Option[(Path, String)], listings: Seq[DirectoryListing])

  /**
   * Above first: a job that is not there any more has put its files into the directories, which are listed
   * then.
   */
  private def look(fs: FileSystem, root: Path, dirs: Seq[Path])(
      writer: DirectoryListing => Option[String]): WriterSearch = {
    val top = fs.makeQualified(root)
    def within(dir: Path) = dir == top || dir.toString.startsWith(s"$top/")
    val above = dirs.flatMap(d =>
      Iterator.iterate(fs.makeQualified(d).getParent)(_.getParent)
        .takeWhile(p => p != null && within(p)))
    val own = dirs.map(d => fs.makeQualified(d)).toSet
    val several = (top +: above).distinct.filterNot(own).iterator.flatMap(dir =>
      TextFiles.children(fs, dir).map(_.getPath.getName).find(DirectoryListing.isScratch).map(dir -> _))
      .take(1).toList.headOption
    if (several.isDefined) WriterSearch(several, Nil)
    else {
      // while somebody writes, he is asked for again and again: not all partitions are listed each time
      val parts = dirs.grouped(16 * DriverReads.MostRequests)
      var seen = Vector.empty[(DirectoryListing, Option[(Path, String)])]
      while (parts.hasNext && !seen.exists(_._2.isDefined))
        seen ++= DriverReads.each(parts.next(), DriverReads.MostRequests) { dir =>
          val tree = DirectoryListing.walk(fs, dir)
          (tree, writer(tree).map(dir -> _))
        }
      WriterSearch(seen.flatMap(_._2).headOption, seen.map(_._1))
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

  /** @param found the scratch directory or the file, relative to `root` */
  def stop(root: Path, found: String): Nothing =
    if (DirectoryListing.isScratch(found.substring(found.lastIndexOf('/') + 1)))
      throw new ZOrderConflictException("ZORDER_CONFLICT.JOB_AT_WORK", "dir" -> s"$root/$found")
    else throw new ZOrderConflictException("ZORDER_CONFLICT.UPLOAD_AT_WORK", "file" -> s"$root/$found")
}

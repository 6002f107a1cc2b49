package org.apache.spark.sql.zorder.table.parquet.files

import scala.collection.mutable.ArrayBuffer

import org.apache.hadoop.fs.{FileStatus, FileSystem, Path}

import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * A file below a directory.
 *
 * @param rel
 *   path relative to the directory
 * @param modified
 *   milliseconds since the epoch
 */
private[zorder] final case class ListedFile(rel: String, length: Long, modified: Long) {

  /** Spark's rule: not hidden, in no hidden directory, below nothing but partition directories, and not empty. */
  def isData: Boolean = {
    val names = rel.split('/')
    length > 0 && !names.exists(DirectoryListing.isHidden) && names.init.forall(_.contains('='))
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

  lazy val data: Seq[ListedFile] = files.filter(_.isData)

  /** The scratch directory of an unfinished job, if there is one. */
  def writer: Option[String] = writers.headOption

  def writers: Seq[String] = dirs.filter(d => DirectoryListing.isWriter(d.substring(d.lastIndexOf('/') + 1)))

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
        if (!isWriter(s.getPath.getName)) visit(s.getPath, rel + "/")
      } else {
        files += ListedFile(rel, s.getLen, s.getModificationTime)
        statuses += s
      }
    }
    visit(root, "")
    DirectoryListing(fs.makeQualified(root), files.toVector, dirs.toVector, statuses.toVector)
  }

  /**
   * Whether Spark skips the file in listings. Not `HadoopFSUtils.shouldFilterOutPathName`, which lets the Parquet
   * summaries `_metadata` and `_common_metadata` through.
   */
  def isHidden(name: String): Boolean =
    (name.startsWith("_") && !name.contains("=")) || name.startsWith(".") || name.endsWith("._COPYING_")

  def isWriter(name: String): Boolean =
    name == "_temporary" || name.startsWith(".spark-staging-") || name.startsWith("__magic")

  /** The partition directories of a file of a path table. */
  def partitionOf(file: ListedFile): String = {
    val cut = file.rel.lastIndexOf('/')
    if (cut < 0) "" else file.rel.substring(0, cut)
  }
}

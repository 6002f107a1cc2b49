package org.apache.spark.sql.zorder.table.parquet.files

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * Hidden directories inside that of a managed table. `.z<txn>` holds the partitions that a run has written,
 * `.z<txn>.old` the old ones that it found where Spark makes partitions. Listings skip both, and DROP deletes them.
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
    below(root, dir).exists(!_.split('/').exists(DirectoryListing.isHidden))

  /** Our hidden directory that `dir` lies in, if it does. */
  def topOf(root: Path, dir: Path): Option[Path] =
    below(root, dir).map(_.takeWhile(_ != '/')).filter(isOurs).map(new Path(root, _))

  private def below(root: Path, dir: Path): Option[String] = {
    val base = s"${PathText.of(root)}/"
    Some(dir.toUri.getPath).filter(_.startsWith(base)).map(_.stripPrefix(base))
  }
}

package org.apache.spark.sql.zorder.table.parquet.files

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * Hidden directories inside a managed table's own: `.z<txn>` holds partitions as a run has written them,
 * `.z<txn>.old` those that it found where Spark makes them. Listings pass over both, DROP takes them.
 */
private[zorder] object HiddenDirectories {
  private val Prefix = ".z"
  private val Old = ".old"

  def fresh(root: Path, txn: String): Path = new Path(root, s"$Prefix$txn")
  def retired(root: Path, txn: String): Path = new Path(root, s"$Prefix$txn$Old")
  def isOurs(name: String): Boolean = name.matches("\\.z[A-Za-z0-9]{6,}(\\.old)?")

  /** All of them that are there. */
  def all(fs: FileSystem, root: Path): Seq[Path] =
    TextFiles.children(fs, root).filter(s => s.isDirectory && isOurs(s.getPath.getName)).map(_.getPath)

  /** Whether `dir` is below `root`, and every listing of it finds what is there. */
  def isVisible(root: Path, dir: Path): Boolean =
    below(root, dir).exists(!_.split('/').exists(DirectoryListing.isHidden))

  /** The directory of ours that `dir` lies in. */
  def topOf(root: Path, dir: Path): Option[Path] =
    below(root, dir).map(_.takeWhile(_ != '/')).filter(isOurs).map(new Path(root, _))

  private def below(root: Path, dir: Path): Option[String] = {
    val base = s"${root.toUri.getPath.stripSuffix("/")}/"
    Some(dir.toUri.getPath).filter(_.startsWith(base)).map(_.stripPrefix(base))
  }
}

package org.apache.spark.sql.zorder.table.file

import org.apache.hadoop.fs.Path

/**
 * A path without scheme and host, and without a slash at its end, by which two names of one place are
 * compared.
 */
private[zorder] object PathText {
  def of(path: Path): String = path.toUri.getPath.stripSuffix("/")

  /** The path from a directory down to a place below it; None for a place that lies elsewhere. */
  def below(path: Path, dir: Path): Option[String] = {
    val base = s"${of(dir)}/"
    Some(path.toUri.getPath).filter(_.startsWith(base)).map(_.stripPrefix(base))
  }

  /** Whether a place is a directory or lies below it; both without a slash at the end. */
  def isWithin(path: String, dir: String): Boolean = path == dir || path.startsWith(s"$dir/")
}

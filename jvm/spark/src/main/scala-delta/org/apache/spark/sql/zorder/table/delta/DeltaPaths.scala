package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileSystem, Path}

/**
 * Paths of a table's files. A shallow clone names those of its source, which may be on another file system than its own,
 * and a file system refuses paths of others.
 */
final private[delta] class DeltaPaths(root: Path, conf: Configuration) {

  /** Of the table's directory. */
  val own: FileSystem = root.getFileSystem(conf)

  def fileSystem(path: Path): FileSystem = {
    val (there, here) = (path.toUri, own.getUri)
    val isOwn = there.getScheme == null ||
      (there.getScheme == here.getScheme && there.getAuthority == here.getAuthority)
    if (isOwn) own else path.getFileSystem(conf)
  }

  /** As Spark's metadata columns write it. */
  def qualified(path: Path): Path = fileSystem(path).makeQualified(path)
}

package org.apache.spark.sql.zorder.table.iceberg

import java.net.URI

import org.apache.hadoop.fs.{FSDataInputStream, FileStatus, Path}
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.sql.zorder.OtherRawFileSystem

/** The local file system under another scheme, which shows nothing to those whose settings lack its key. */
class KeyedFileSystem extends OtherRawFileSystem {
  override def getScheme: String = "keyed"
  override def getUri: URI = URI.create("keyed:///")

  override def open(path: Path, buffer: Int): FSDataInputStream = keyed(path)(super.open(path, buffer))
  override def getFileStatus(path: Path): FileStatus = keyed(path)(super.getFileStatus(path))
  override def listStatus(path: Path): Array[FileStatus] = keyed(path)(super.listStatus(path))

  private def keyed[A](path: Path)(body: => A): A =
    if (getConf.get("fs.keyed.secret") == "open") body
    else throw new AccessControlException(s"No key to $path")
}

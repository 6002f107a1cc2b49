package org.apache.spark.sql.zorder

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{DelegateToFileSystem, FileStatus, LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.FsPermission

/** The local file system under another scheme, so that neither of the two takes paths of the other. */
class OtherFileSystem extends LocalFileSystem(new OtherRawFileSystem) {
  override def getScheme: String = OtherFileSystem.root.getScheme
}

class OtherRawFileSystem extends QuickRawFileSystem {
  override def getUri: URI = OtherFileSystem.root

  override def getFileStatus(path: Path): FileStatus = permitted(super.getFileStatus(path))

  override def listStatus(path: Path): Array[FileStatus] = super.listStatus(path).map(permitted)

  /** Hadoop asks for permissions by `java.io.File`, which takes no other scheme. */
  private def permitted(s: FileStatus): FileStatus = new FileStatus(
    s.getLen,
    s.isDirectory,
    1,
    s.getBlockSize,
    s.getModificationTime,
    0L,
    FsPermission.getDirDefault,
    "",
    "",
    s.getPath)
}

/** By which Hadoop renames a directory in one step. */
class OtherContext(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new OtherFileSystem, conf, OtherFileSystem.root.getScheme, false)

private object OtherFileSystem {
  val root: URI = URI.create("other:///")
}

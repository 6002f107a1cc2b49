package org.apache.spark.sql.zorder

import java.nio.file.Files
import java.nio.file.attribute.PosixFilePermissions

import org.apache.hadoop.fs.{LocalFileSystem, Path, RawLocalFileSystem}
import org.apache.hadoop.fs.permission.FsPermission

/**
 * The local file system of all tests, which `core-site.xml` names. Without its native library Hadoop starts a process of
 * `chmod` for each file and directory that it makes: hundreds of thousands in a run of the tests.
 */
class QuickFileSystem extends LocalFileSystem(new QuickRawFileSystem)

/** Java sets the permissions, but for the sticky bit, which it does not know. */
class QuickRawFileSystem extends RawLocalFileSystem {

  override def setPermission(path: Path, permission: FsPermission): Unit =
    if (permission.getStickyBit) super.setPermission(path, permission)
    else {
      val modes = Seq(permission.getUserAction, permission.getGroupAction, permission.getOtherAction)
      val bits = PosixFilePermissions.fromString(modes.map(_.SYMBOL).mkString)
      Files.setPosixFilePermissions(pathToFile(path).toPath, bits)
      ()
    }
}

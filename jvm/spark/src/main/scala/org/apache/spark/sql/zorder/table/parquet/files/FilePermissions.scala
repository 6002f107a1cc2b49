package org.apache.spark.sql.zorder.table.parquet.files

import java.nio.file.{Files, LinkOption, Paths}
import java.nio.file.attribute.{PosixFileAttributes, PosixFileAttributeView}

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileSystem, LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.AclUtil

/** Owner, group, mode and ACL, copied from a file or directory to the one that takes its place. */
private[zorder] object FilePermissions {

  /** @throws java.io.IOException when the file system does not let this user set them */
  def copy(fs: FileSystem, from: Path, to: Path): Unit = fs match {
    case _: LocalFileSystem => copyLocal(from, to)
    case _ => copyHadoop(fs, from, to)
  }

  /** With java.nio, because Hadoop runs a shell command for each local file. */
  private def copyLocal(from: Path, to: Path): Unit = {
    val source = Paths.get(from.toUri.getPath)
    val view = Files.getFileAttributeView(
      Paths.get(to.toUri.getPath),
      classOf[PosixFileAttributeView],
      LinkOption.NOFOLLOW_LINKS)
    if (view != null) {
      val wanted = Files.readAttributes(source, classOf[PosixFileAttributes])
      val has = view.readAttributes()
      if (has.group != wanted.group) view.setGroup(wanted.group)
      if (has.owner != wanted.owner) view.setOwner(wanted.owner)
      if (has.permissions.asScala != wanted.permissions.asScala) view.setPermissions(wanted.permissions)
    }
  }

  private def copyHadoop(fs: FileSystem, from: Path, to: Path): Unit = {
    val wanted = fs.getFileStatus(from)
    val has = fs.getFileStatus(to)
    if (has.getOwner != wanted.getOwner || has.getGroup != wanted.getGroup)
      fs.setOwner(to, wanted.getOwner, wanted.getGroup)
    if (has.getPermission != wanted.getPermission) fs.setPermission(to, wanted.getPermission)
    if (wanted.hasAcl) {
      val acl = AclUtil.getAclFromPermAndEntries(wanted.getPermission, fs.getAclStatus(from).getEntries)
      fs.setAcl(to, acl)
    }
  }
}

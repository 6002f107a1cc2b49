package org.apache.spark.sql.zorder.table

import java.io.OutputStream
import java.net.URI
import java.nio.file.{Files, Path => JPath}

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{LocalFileSystem, Path}
import org.apache.hadoop.fs.permission.{FsAction, FsPermission}
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.sql.zorder.QuickRawFileSystem

/** The local file system, but for a directory that nobody may write to: permission bits do not bind root. */
class GuardedFileSystem extends LocalFileSystem(new GuardedRawFileSystem)

class GuardedRawFileSystem extends QuickRawFileSystem {
  import GuardedFileSystem.check

  override def access(path: Path, mode: FsAction): Unit =
    if (mode.implies(FsAction.WRITE)) check(path, "access") else super.access(path, mode)

  override def rename(from: Path, to: Path): Boolean = {
    Seq(from, to).foreach(check(_, "rename"))
    super.rename(from, to)
  }

  override def delete(path: Path, recursive: Boolean): Boolean = {
    check(path, "delete")
    super.delete(path, recursive)
  }

  override def mkdirs(path: Path): Boolean = {
    check(path, "mkdirs")
    super.mkdirs(path)
  }

  override def mkdirs(path: Path, permission: FsPermission): Boolean = {
    check(path, "mkdirs")
    super.mkdirs(path, permission)
  }

  override def setTimes(path: Path, modified: Long, accessed: Long): Unit = {
    check(path, "setTimes")
    super.setTimes(path, modified, accessed)
  }

  override protected def createOutputStream(path: Path, append: Boolean): OutputStream = {
    check(path, "create")
    super.createOutputStream(path, append)
  }

  override protected def createOutputStreamWithMode(
      path: Path,
      append: Boolean,
      permission: FsPermission): OutputStream = {
    check(path, "create")
    super.createOutputStreamWithMode(path, append, permission)
  }
}

/** The local disk under the name of an object store: `s3a://bucket/tmp/t` is `/tmp/t`. */
class LocalStoreFileSystem extends GuardedRawFileSystem {
  override def getScheme: String = "s3a"
  override def getUri: URI = URI.create("s3a://bucket")
}

object GuardedFileSystem {

  /** A session goes through it while it has these settings. */
  val settings: Seq[(String, String)] =
    Seq("fs.file.impl" -> classOf[GuardedFileSystem].getName, "fs.file.impl.disable.cache" -> "true")

  @volatile private var guarded: Option[String] = None

  private[table] def check(path: Path, what: String): Unit =
    if (guarded.exists(dir => s"${path.toUri.getPath}/".startsWith(dir)))
      throw new AccessControlException(s"Read only: $what $path")

  /** Nobody may write to `dir` in `body`, and nothing in it has changed afterwards. */
  def untouched[A](dir: JPath)(body: => A): A = {
    val before = listing(dir)
    guarded = Some(s"$dir/")
    val out =
      try body
      finally guarded = None
    val after = listing(dir)
    assert(after == before, s"gone or older: ${before -- after}, new or newer: ${after -- before}")
    out
  }

  /** Everything below a directory and the directory itself, with length and time. */
  private def listing(dir: JPath): Set[(String, Long, Long)] = {
    val all = Files.walk(dir)
    try all.iterator.asScala.map { f =>
        (f.toString, if (Files.isDirectory(f)) 0L else Files.size(f), Files.getLastModifiedTime(f).toMillis)
      }.toSet
    finally all.close()
  }
}

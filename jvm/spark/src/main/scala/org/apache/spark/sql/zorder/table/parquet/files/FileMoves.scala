package org.apache.spark.sql.zorder.table.parquet.files

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{Files, Paths, StandardCopyOption}
import java.util.UUID

import org.apache.hadoop.fs.{FileContext, FileStatus, FileSystem, FileUtil, Options, Path}

import org.apache.spark.sql.zorder.table.storage.{CrashPoint, ObjectStores}

/** Renames and copies that either happen as intended or fail. */
private[zorder] object FileMoves {

  /** Hadoop moves a directory INTO an existing one; here this is an error. */
  def rename(fs: FileSystem, from: Path, to: Path): Unit = {
    if (fs.exists(to)) throw new IOException(s"$to is there already, so $from cannot become it")
    fs.mkdirs(to.getParent)
    if (fs.getUri.getScheme == "file") renameLocal(from, to) else renameOther(fs, from, to)
  }

  /** Atomically: Hadoop's local file system copies and deletes if it cannot rename. */
  private def renameLocal(from: Path, to: Path): Unit = {
    if (!CrashPoint.renames(from, to)) throw new IOException(s"Cannot rename $from to $to")
    Files.move(
      Paths.get(from.toUri.getPath),
      Paths.get(to.toUri.getPath),
      StandardCopyOption.ATOMIC_MOVE)
    ()
  }

  /** By FileContext, which refuses an existing target in the same step: FileSystem.rename would move into it. */
  private def renameOther(fs: FileSystem, from: Path, to: Path): Unit =
    FileContext.getFileContext(fs.getUri, fs.getConf).rename(from, to, Options.Rename.NONE)

  /**
   * A complete copy under its final name, or nothing. It keeps modification time, owner and mode if the file system
   * has them. An object store does not show an object before it is complete, and a rename there is another copy.
   */
  def copy(fs: FileSystem, from: Path, to: Path, modified: Long): Unit =
    if (ObjectStores.isOne(fs.getUri.getScheme)) {
      if (!FileUtil.copy(fs, from, fs, to, false, true, fs.getConf))
        throw new IOException(s"Cannot copy $from to $to")
    } else copyHidden(fs, from, to, modified)

  private def copyHidden(fs: FileSystem, from: Path, to: Path, modified: Long): Unit = {
    fs.mkdirs(to.getParent)
    val hidden = new Path(to.getParent, s".zorder-${UUID.randomUUID}.tmp")
    try {
      if (!FileUtil.copy(fs, from, fs, hidden, false, true, fs.getConf))
        throw new IOException(s"Cannot copy $from to $to")
      fs.setTimes(hidden, modified, -1)
      FilePermissions.copy(fs, from, hidden)
      if (fs.exists(to)) fs.delete(to, false)
      if (!fs.rename(hidden, to)) throw new IOException(s"Cannot rename $hidden to $to")
    } finally fs.delete(hidden, false)
    ()
  }

  def status(fs: FileSystem, path: Path): Option[FileStatus] =
    try Some(fs.getFileStatus(path))
    catch { case _: FileNotFoundException => None }

  /** Deletes the directories below `dir` that hold no files, and `dir` itself; whether `dir` is gone. */
  def deleteEmptyDirs(fs: FileSystem, dir: Path): Boolean =
    status(fs, dir).forall { s =>
      val children = fs.listStatus(dir)
      s.isDirectory && children.map(c => c.isDirectory && deleteEmptyDirs(fs, c.getPath)).forall(identity) &&
      deleteDir(fs, dir)
    }

  /** False if something was created in it meanwhile. */
  private def deleteDir(fs: FileSystem, dir: Path): Boolean =
    try fs.delete(dir, false)
    catch { case _: IOException => false }
}

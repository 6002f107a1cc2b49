package org.apache.spark.sql.zorder.table.parquet.files

import java.io.{FileNotFoundException, IOException}
import java.nio.file.{FileSystemException, Files, LinkOption, Path => JPath, Paths, StandardCopyOption}
import java.nio.file.attribute.{PosixFileAttributeView, PosixFileAttributes}
import java.util.UUID

import scala.util.Try

import org.apache.hadoop.fs.{
  FSDataOutputStream,
  FileContext,
  FileStatus,
  FileSystem,
  FileUtil,
  LocalFileSystem,
  Options,
  Path,
  StreamCapabilities
}
import org.apache.hadoop.fs.permission.{AclUtil, FsAction, FsPermission}
import org.apache.hadoop.io.IOUtils
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, DriverReads, ObjectStores, StorageFailure}

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

  /** Renames by FileContext, which refuses an existing target in one step. FileSystem.rename would move into it. */
  private def renameOther(fs: FileSystem, from: Path, to: Path): Unit =
    FileContext.getFileContext(fs.getUri, fs.getConf).rename(from, to, Options.Rename.NONE)

  /**
   * A complete copy under its final name, or nothing. It keeps the modification time, and owner and mode if the file system
   * has them and this user may set them. An object store does not show an object before it is complete, and a rename there
   * is another copy.
   *
   * @param file
   *   what is copied, by length and modification time
   */
  def copy(fs: FileSystem, from: Path, to: Path, file: ListedFile): Unit =
    copy(fs, from, to, file, overwrite = true)

  /**
   * Copies a file in a task: what is there already with the same length is taken as it is, also where another attempt has
   * made it meanwhile. An attempt that was given up may still run, and go on after another one has finished the copy and its
   * original is gone. Some stores empty what is there when a file is made, so what was not there is not overwritten.
   */
  def copyUnlessThere(fs: FileSystem, from: Path, to: Path, file: ListedFile): Unit = {
    def isWhole(there: Option[FileStatus]) = there.exists(_.getLen == file.length)
    val there = status(fs, to)
    if (!isWhole(there))
      try copy(fs, from, to, file, overwrite = there.isDefined)
      catch { case _: IOException if isWhole(status(fs, to)) => () }
  }

  private def copy(fs: FileSystem, from: Path, to: Path, file: ListedFile, overwrite: Boolean): Unit =
    if (ObjectStores.isOne(fs.getUri.getScheme)) copyObject(fs, from, to, file.length, overwrite)
    else copyHidden(fs, from, to, file)

  /** Hadoop's own copy looks at both first, which takes a store three requests. */
  private def copyObject(fs: FileSystem, from: Path, to: Path, length: Long, overwrite: Boolean): Unit = {
    val in = fs.open(from)
    try {
      val out = fs.create(to, overwrite)
      try {
        IOUtils.copyBytes(in, out, fs.getConf, false)
        out.close()
      } catch { case e: Throwable => withdraw(fs, out, to, length, e); throw e }
    } finally in.close()
  }

  /**
   * Leaves nothing under the name of a copy that failed: closing a stream gives that name to what was written so far. One
   * that can be aborted has not touched what was there before; any other one has taken its place.
   *
   * A whole file is the copy of another attempt of the same task, and perhaps the only one: its original may be gone. A
   * stream that is not closed leaves it as it is. A copy that the other attempt ends between this look and the deletion
   * is still lost.
   */
  private def withdraw(
      fs: FileSystem,
      out: FSDataOutputStream,
      to: Path,
      length: Long,
      why: Throwable): Unit =
    if (out.hasCapability(StreamCapabilities.ABORTABLE_STREAM)) beside(why)(out.abort())
    else beside(why) {
      if (!status(fs, to).exists(_.getLen == length)) {
        beside(why)(out.close())
        fs.delete(to, false)
      }
    }

  /** What else fails is told with the first failure. A stream may fail twice with the same one. */
  private def beside(why: Throwable)(body: => Any): Unit =
    try {
      body
      ()
    } catch { case e: Throwable => if (e ne why) why.addSuppressed(e) }

  private def copyHidden(fs: FileSystem, from: Path, to: Path, file: ListedFile): Unit = {
    fs.mkdirs(to.getParent)
    val hidden = new Path(to.getParent, s".zorder-${UUID.randomUUID}.tmp")
    try {
      if (!FileUtil.copy(fs, from, fs, hidden, false, true, fs.getConf))
        throw new IOException(s"Cannot copy $from to $to")
      fs.setTimes(hidden, file.modified, -1)
      FilePermissions.copyIfPermitted(fs, from, hidden)
      val there = status(fs, to)
      // another attempt of the same task may have finished the copy
      if (!there.exists(s => s.getLen == file.length && s.getModificationTime == file.modified)) {
        if (there.isDefined) fs.delete(to, false)
        if (!fs.rename(hidden, to)) throw new IOException(s"Cannot rename $hidden to $to")
      }
    } finally fs.delete(hidden, false)
    ()
  }

  def status(fs: FileSystem, path: Path): Option[FileStatus] =
    try Some(fs.getFileStatus(path))
    catch { case _: FileNotFoundException => None }

  /**
   * Deletes the directories below `dir` that hold no files, and `dir` itself.
   *
   * @param full
   *   directories that hold files: these are not listed
   * @return
   *   whether `dir` is gone
   */
  def deleteEmptyDirs(fs: FileSystem, dir: Path, full: Set[Path] = Set.empty): Boolean =
    status(fs, dir).forall(s => s.isDirectory && deleteIfEmpty(fs, dir, full.map(fs.makeQualified(_))))

  /** Of what is below a directory, its listing says what is one. */
  private def deleteIfEmpty(fs: FileSystem, dir: Path, full: Set[Path]): Boolean =
    try
      !full(dir) &&
        fs.listStatus(dir).map(c => c.isDirectory && deleteIfEmpty(fs, c.getPath, full)).forall(identity) &&
        deleteDir(fs, dir)
    catch { case _: FileNotFoundException => true }

  /** False if something was created in it meanwhile. */
  private def deleteDir(fs: FileSystem, dir: Path): Boolean =
    try fs.delete(dir, false)
    catch { case _: IOException => false }
}

/** Owner, group, mode and ACL, copied from a file or directory to the one that takes its place. */
private[zorder] object FilePermissions {

  /** @throws java.io.IOException when the file system does not let this user set them */
  def copy(fs: FileSystem, from: Path, to: Path): Unit = copy(fs, from, to, strict = true)

  /**
   * Copies them to the copy of a file that may have come in the middle of a run, and may be another user's. Where this user
   * may not set its owner, the copy is this user's. Where the group cannot be kept either, no group has rights on the copy: the
   * mode would give those of the old group to another one.
   */
  def copyIfPermitted(fs: FileSystem, from: Path, to: Path): Unit = copy(fs, from, to, strict = false)

  private def copy(fs: FileSystem, from: Path, to: Path, strict: Boolean): Unit = fs match {
    case _: LocalFileSystem => copyLocal(from, to, strict)
    case _ => copyHadoop(fs, from, to, strict)
  }

  /** Whether `body` was done. Java refuses what only a superuser may do by a general exception. */
  private def isPermitted(body: => Unit): Boolean =
    try { body; true }
    catch { case _: AccessControlException | _: FileSystemException => false }

  /**
   * Refuses owners whom this user may not give what he makes. Each is tried on a file, which is deleted again.
   *
   * @param dir
   *   of ours
   * @param models
   *   files and directories that a commit will copy owners from; one that is gone is passed over
   */
  def tryOwners(fs: FileSystem, dir: Path, models: Seq[Path]): Unit = {
    val found = DriverReads.each(models, DriverReads.MostRequests)(m => ownerOf(fs, m).map(_ -> m))
    val ours = ownerOf(fs, dir)
    val others = found.flatten.toMap.filterNot { case (owner, _) => ours.contains(owner) }
    if (others.nonEmpty) {
      val scratch = new Path(dir, s".zorder-${UUID.randomUUID}.tmp")
      fs.create(scratch, false).close()
      try others.foreach { case (owner, model) => tryOwner(fs, owner, model, scratch) }
      finally {
        fs.delete(scratch, false)
        ()
      }
    }
  }

  private def tryOwner(fs: FileSystem, owner: String, model: Path, scratch: Path): Unit =
    try copyOwner(fs, model, scratch)
    catch {
      case StorageFailure(said) =>
        refuse("ZORDER_NO_PERMISSION.OWNER", "file" -> model, "owner" -> owner, "cause" -> said)
    }

  /** As `owner:group`, where the file system has them. */
  private def ownerOf(fs: FileSystem, path: Path): Option[String] = Try(fs match {
    case _: LocalFileSystem =>
      val found = attributes(path)
      s"${found.owner.getName}:${found.group.getName}"
    case _ =>
      val found = fs.getFileStatus(path)
      s"${found.getOwner}:${found.getGroup}"
  }).toOption

  private def copyOwner(fs: FileSystem, from: Path, to: Path): Unit = fs match {
    case _: LocalFileSystem => view(to).foreach(own(_, attributes(from)))
    case _ =>
      val wanted = fs.getFileStatus(from)
      own(fs, to, fs.getFileStatus(to), wanted.getOwner, wanted.getGroup)
  }

  /** Copies with java.nio, because Hadoop runs a shell command for each local file. */
  private def copyLocal(from: Path, to: Path, strict: Boolean): Unit = view(to).foreach { place =>
    val wanted = attributes(from)
    if (strict) own(place, wanted)
    val hasGroup =
      strict || isPermitted(own(place, wanted)) || place.readAttributes().group == wanted.group
    val mode = if (hasGroup) modeOf(local(from)) else modeOf(local(from)) & ~GroupRights
    if (modeOf(local(to), LinkOption.NOFOLLOW_LINKS) != mode)
      Files.setAttribute(local(to), Mode, Int.box(mode), LinkOption.NOFOLLOW_LINKS)
    ()
  }

  private def local(path: Path): JPath = Paths.get(path.toUri.getPath)

  private def attributes(path: Path): PosixFileAttributes =
    Files.readAttributes(local(path), classOf[PosixFileAttributes])

  private def view(path: Path): Option[PosixFileAttributeView] = Option(
    Files.getFileAttributeView(local(path), classOf[PosixFileAttributeView], LinkOption.NOFOLLOW_LINKS))

  private def own(place: PosixFileAttributeView, wanted: PosixFileAttributes): Unit = {
    val has = place.readAttributes()
    // the group first: where the owner cannot be set, the group is
    if (has.group != wanted.group) place.setGroup(wanted.group)
    if (has.owner != wanted.owner) place.setOwner(wanted.owner)
  }

  private val Mode = "unix:mode"

  /** `rwx` of the group, in octal 070. */
  private val GroupRights = 0x38

  /** With the bits that no set of permissions has, such as the one that gives new files the group of their directory. */
  private def modeOf(path: JPath, links: LinkOption*): Int =
    Files.getAttribute(path, Mode, links: _*).asInstanceOf[Int] & 0xfff

  private def copyHadoop(fs: FileSystem, from: Path, to: Path, strict: Boolean): Unit = {
    val wanted = fs.getFileStatus(from)
    val has = fs.getFileStatus(to)
    def give(owner: String): Unit = own(fs, to, has, owner, wanted.getGroup)
    if (strict) give(wanted.getOwner)
    val hasGroup = strict || isPermitted(give(wanted.getOwner)) || isPermitted(give(has.getOwner))
    val mode = if (hasGroup) wanted.getPermission else withoutGroup(wanted.getPermission)
    if (has.getPermission != mode) fs.setPermission(to, mode)
    if (wanted.hasAcl)
      fs.setAcl(to, AclUtil.getAclFromPermAndEntries(mode, fs.getAclStatus(from).getEntries))
  }

  /** Of a file with an ACL, the rights of the group are a bound for all that the ACL names. */
  private def withoutGroup(mode: FsPermission): FsPermission =
    new FsPermission(mode.getUserAction, FsAction.NONE, mode.getOtherAction)

  private def own(fs: FileSystem, place: Path, has: FileStatus, owner: String, group: String): Unit =
    if (has.getOwner != owner || has.getGroup != group) fs.setOwner(place, owner, group)
}

package org.apache.spark.sql.zorder.skipping.index

import java.io.{FileNotFoundException, IOException}
import java.util.Locale

import scala.util.control.NonFatal

import org.apache.commons.codec.binary.Hex
import org.apache.commons.codec.digest.DigestUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FSDataOutputStream, FileAlreadyExistsException, FileStatus, FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.file.PathText

/**
 * The indexes of a table, `index-<n>` in a directory of their own ([[IndexPlace]]). They never change: a new
 * one gets the next number, and the newest whole one counts, so that a writer that dies leaves the one before
 * it in place. A rename would be no single step on an object store.
 */
final class IndexStore(fs: FileSystem, val dir: Path) extends Logging {

  /**
   * The newest whole index with its number; None without one, and where a later version has made it: what it
   * has, an older index may not have.
   *
   * @param found
   *   what [[listed]] has found
   * @param admit
   *   is asked before so many bytes of memory are taken; what it refuses is not loaded
   * @param failed
   *   is told of what cannot be loaded later
   */
  def newest(
      found: Seq[(Long, FileStatus)] = listed(),
      admit: Long => Boolean = _ => true,
      failed: Throwable => Unit = _ => ()): Option[(Long, StatisticsIndex)] = {
    val read = found.iterator.flatMap { case (n, status) =>
      val index = IndexFile.read(fs, status, admit) { e =>
        unreadable(status.getPath, e)
        failed(e)
      }
      if (index.isEmpty) logWarning(s"${status.getPath} is no whole index of spark-zorder and is left out")
      index.map(n -> _)
    }
    try if (read.hasNext) Some(read.next()) else None
    catch {
      case e: LaterIndex =>
        logWarning(s"${e.getMessage}: no files are skipped by it")
        None
    }
  }

  /** The newest whole index, for callers that need none: None, too, where the storage fails. */
  def newestReadable(): Option[StatisticsIndex] =
    try newest().map(_._2)
    catch {
      case e: IOException =>
        logWarning(s"The statistics index in $dir cannot be read and is left out", e)
        None
    }

  /** The file that takes the last number there is, so that no index can come after it. */
  def last(): Option[Path] = listed().headOption.filter(_._1 >= IndexStore.LastNumber).map(_._2.getPath)

  /**
   * Writes an index as the newest one and deletes those that no query can have begun with lately.
   *
   * @param begun
   *   the newest index file when this one was begun. Where there is another newest one now, somebody has made
   *   or dropped an index meanwhile, and nothing is written.
   * @return
   *   its bytes. Where it throws, there is no such index.
   */
  def write(index: StatisticsIndex, begun: Option[FileStatus] = None): Option[Long] = {
    val found = listed().headOption
    val newest = found.map(_._1)
    if (begun.exists(b => !found.exists(f => IndexStore.same(b, f._2)))) None
    else {
      val bytes = IndexFile.bytes(index)
      fs.mkdirs(dir)
      val number = put(bytes, newest.fold(1L)(_ + 1))
      try {
        listed().map(_._1).filter(_ < number).drop(IndexStore.Kept).foreach(n => delete(file(n)))
        sweep(index)
      } catch { case NonFatal(e) => logWarning(s"Old indexes and Bloom filters in $dir stay for now", e) }
      Some(bytes.length.toLong)
    }
  }

  /** Writes Bloom filters beside the indexes; an index must name them then. */
  def bloomWriter(): BloomWriter = new BloomWriter(fs, dir)

  /** Filters that lie beside the indexes, of a column of this type. */
  def blooms(stored: ColumnSegments, dataType: DataType): ColumnBlooms =
    new ColumnBlooms(stored, dataType, bloomFiles, unreadable(dir, _))

  /** Deletes Bloom filters that no index will name, and a directory that is empty then. */
  def withdraw(names: Set[String]): Unit = {
    names.foreach(name => delete(new Path(dir, name)))
    if (fs.exists(dir) && fs.listStatus(dir).isEmpty) delete(dir)
  }

  def bloomFiles: BloomFiles = new BloomFiles(fs, dir)

  /** Names of the files of Bloom filters that are there. */
  def bloomNames(): Set[String] = bloomStatuses().map(_.getPath.getName).toSet

  /** Deletes files of Bloom filters that no index names that is kept, unless somebody may be writing them. */
  private def sweep(newest: StatisticsIndex): Unit = {
    val old = bloomStatuses().filterNot(s => newest.blooms.files(s.getPath.getName))
    if (old.nonEmpty) {
      val indexes = listed().map(_._2)
      val named =
        indexes.flatMap(s => IndexFile.read(fs, s, _ => true)(_ => ())).flatMap(
          _.blooms.files)
      val now = indexes.map(_.getModificationTime).foldLeft(0L)(math.max)
      old.filter(s =>
        !named.contains(s.getPath.getName) && s.getModificationTime < now - IndexStore.WritingMs)
        .foreach(s => delete(s.getPath))
    }
  }

  private def bloomStatuses(): Seq[FileStatus] =
    try fs.listStatus(dir).toSeq.filter(s => BloomFiles.isOne(s.getPath.getName))
    catch { case _: FileNotFoundException => Nil }

  /** Deletes the index; false if there was none. */
  def drop(): Boolean = fs.exists(dir) && fs.delete(dir, true)

  /** Whether indexes lie on the file system of the table at `root`, whose times are by the same clock then. */
  def sharesClockOf(root: Path): Boolean = {
    val (here, table) = (fs.makeQualified(dir).toUri, root.toUri)
    here.getScheme == table.getScheme && here.getAuthority == table.getAuthority
  }

  /** What time it is at the store, which may differ from ours: the time that a new file gets. */
  def clock(): Long = {
    fs.mkdirs(dir)
    val probe = new Path(dir, s".clock-${java.util.UUID.randomUUID}")
    try {
      fs.create(probe, false).close()
      fs.getFileStatus(probe).getModificationTime
    } finally delete(probe)
  }

  /** Another writer may take a number at the same time: each writes a file of its own. */
  private def put(bytes: Array[Byte], number: Long): Long =
    if (number > IndexStore.LastNumber) throw new IOException(s"No number is left for an index in $dir.")
    else if (created(file(number), bytes)) number
    else put(bytes, number + 1)

  private def created(path: Path, bytes: Array[Byte]): Boolean =
    if (fs.exists(path)) false
    else
      begun(path).exists { out =>
        try {
          try out.write(bytes)
          finally out.close()
        } catch {
          case NonFatal(e) =>
            delete(path)
            throw e
        }
        true
      }

  /** None where another writer has made the file since somebody looked. */
  private def begun(path: Path): Option[FSDataOutputStream] =
    try Some(fs.create(path, false))
    catch { case _: FileAlreadyExistsException | _: java.nio.file.FileAlreadyExistsException => None }

  /** The index files with their numbers, whole or not, the newest first. */
  private[skipping] def listed(): Seq[(Long, FileStatus)] =
    try {
      fs.listStatus(dir).toSeq.collect {
        case s if s.isFile && s.getPath.getName.matches(IndexStore.FileName) =>
          s.getPath.getName.stripPrefix(IndexStore.Prefix).toLong -> s
      }.sortBy(-_._1)
    } catch { case _: FileNotFoundException => Nil }

  private def file(number: Long): Path = new Path(dir, s"${IndexStore.Prefix}$number")

  private def delete(path: Path): Unit =
    try {
      val _ = fs.delete(path, false)
    } catch { case NonFatal(e) => logWarning(s"$path cannot be deleted", e) }

  private def unreadable(path: Path, e: Throwable): Unit =
    logWarning(s"A column of the index $path cannot be read: files are not skipped by it", e)
}

object IndexStore {

  /** The indexes of the table at `root`, where this session keeps them. */
  def of(session: ClassicSession, root: Path): IndexStore =
    of(root, IndexPlace.in(session.sessionState.conf), session.sessionState.newHadoopConf())

  def of(root: Path, place: IndexPlace, conf: => Configuration): IndexStore = {
    val dir = place.of(root)
    new IndexStore(dir.getFileSystem(conf), dir)
  }

  private val Prefix = "index-"
  private val FileName = "index-[0-9]{1,18}"

  /**
   * Whether it is the same file. A number comes again after a drop, and a file may have been half written.
   */
  private def same(a: FileStatus, b: FileStatus): Boolean =
    a.getPath.getName == b.getPath.getName && a.getLen == b.getLen && a.getModificationTime == b.getModificationTime

  /** A greater one has a name that no reader looks at. */
  private val LastNumber = 999999999999999999L

  /** Older indexes that are kept for queries that load a column later. */
  private val Kept = 2

  /** How long a file of Bloom filters may be there before an index names it. */
  private val WritingMs = 24L * 3600 * 1000
}

/**
 * Which directory holds the index of a table: `_zorder/index` in the table, or, where the session names a
 * location for indexes, a folder there that is the table's own.
 *
 * @param location
 *   the directory below which every table has a folder; empty for indexes that lie in their tables
 */
final case class IndexPlace(location: String) {

  def isElsewhere: Boolean = location.nonEmpty

  /** Whether that is the table's own directory, or below it. */
  def isWithin(root: Path): Boolean = isElsewhere && {
    val (here, table) = (new Path(location).toUri, root.toUri)
    val sameStore =
      here.getScheme == null || (here.getScheme == table.getScheme && here.getAuthority == table.getAuthority)
    sameStore && PathText.isWithin(PathText.of(new Path(location)), PathText.of(root))
  }

  /** @param root of the table, with the scheme of its file system */
  def of(root: Path): Path =
    if (isElsewhere) new Path(location, IndexPlace.folder(root))
    else new Path(new Path(root, StateDir.Name), IndexPlace.Name)
}

object IndexPlace {
  private val Name = "index"

  /** Where this session keeps indexes. */
  def in(session: SQLConf): IndexPlace = IndexPlace(SessionKeys.IndexLocation.orDefault(session))

  /** The name of a table's folder: paths have characters, and lengths, that names of folders may not have. */
  private def folder(root: Path): String = {
    val uri = root.toUri
    val scheme = Option(uri.getScheme).fold("")(_.toLowerCase(Locale.ROOT))
    val qualified = s"$scheme://${Option(uri.getAuthority).getOrElse("")}${PathText.of(root)}"
    Hex.encodeHexString(DigestUtils.sha256(qualified).take(16))
  }
}

package org.apache.spark.sql.zorder.table.storage

import java.io.{FileNotFoundException, IOException}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Paths}
import java.util.{Locale, UUID}

import scala.annotation.nowarn

import org.apache.hadoop.fs.{
  FSError,
  FileAlreadyExistsException,
  FileContext,
  FileStatus,
  FileSystem,
  LocalFileSystem,
  Options,
  Path,
  UnsupportedFileSystemException
}
import org.apache.hadoop.io.IOUtils
import org.apache.spark.sql.zorder.errors.ZOrderException

/** Small text files that a reader sees completely or not at all. */
private[zorder] object TextFiles {

  /** Writes `text`, in place of an earlier file if there is one. */
  def replace(fs: FileSystem, path: Path, text: String): Unit =
    if (ObjectStores.showsUnfinished(fs.getUri.getScheme)) twice(fs, path, text)
    else if (ObjectStores.isOne(path.toUri.getScheme)) put(fs, path, text) // a PUT is atomic, a rename is not
    else {
      val raw = unchecked(fs)
      val hidden = new Path(path.getParent, s".${path.getName.stripPrefix(".")}.${UUID.randomUUID}.tmp")
      try {
        put(raw, hidden, text)
        move(raw, hidden, path)
      } finally raw.delete(hidden, false)
      ()
    }

  /**
   * Under a second name first, where a file is empty until it is closed and no rename takes the place of another file.
   * The second file stays if the writer dies: `read` looks there where the file is empty, and so the next writer leaves
   * it whole until it has written the file.
   */
  private def twice(fs: FileSystem, path: Path, text: String): Unit = {
    if (!content(fs, path).contains("")) put(fs, second(path), text)
    put(fs, path, text)
    fs.delete(second(path), false)
    ()
  }

  /** Deletes a file that `replace` has written, and what a writer that died has left beside it. */
  def delete(fs: FileSystem, path: Path): Unit = {
    fs.delete(path, false)
    if (ObjectStores.showsUnfinished(fs.getUri.getScheme)) fs.delete(second(path), false)
    ()
  }

  private def second(path: Path): Path = new Path(path.getParent, s".${path.getName.stripPrefix(".")}.tmp")

  /** Like `replace`, but only if there is no such file yet; false if there is. */
  def createOnce(fs: FileSystem, path: Path, text: String): Boolean =
    if (fs.exists(path)) false
    else {
      replace(fs, path, text)
      true
    }

  /**
   * Writes a file unless it exists. Of several that try at the same time, one succeeds; not on an object store. Others
   * may see the file before its text.
   */
  def claim(fs: FileSystem, path: Path, text: String): Boolean =
    try {
      if (fs.getUri.getScheme == "file") create(Paths.get(path.toUri.getPath), text)
      else put(fs, path, text, over = false)
      true
    } catch { case _: java.nio.file.FileAlreadyExistsException | _: FileAlreadyExistsException => false }

  /** Leaves no empty file where the text cannot be written. */
  private def create(file: java.nio.file.Path, text: String): Unit = {
    Files.createFile(file)
    try { Files.write(file, text.getBytes(UTF_8)); () }
    catch { case e: Throwable => Files.deleteIfExists(file); throw e }
  }

  /** None if it does not exist or cannot be read. */
  def read(fs: FileSystem, path: Path): Option[String] = content(fs, path) match {
    case Some("") if ObjectStores.showsUnfinished(fs.getUri.getScheme) =>
      // once the file is written, the second one is gone
      content(fs, second(path)).filter(_.nonEmpty).orElse(content(fs, path))
    case found => found
  }

  private def content(fs: FileSystem, path: Path): Option[String] =
    try {
      val in = unchecked(fs).open(path)
      try {
        val out = new java.io.ByteArrayOutputStream()
        IOUtils.copyBytes(in, out, 65536, false)
        Some(new String(out.toByteArray, UTF_8))
      } finally in.close()
    } catch { case _: IOException => None }

  /** The entries of a directory, sorted by name; none if it does not exist. */
  def children(fs: FileSystem, dir: Path): Seq[FileStatus] =
    try fs.listStatus(dir).toSeq.map(s => s.getPath.getName -> s).sortBy(_._1).map(_._2)
    catch { case _: FileNotFoundException => Nil }

  /** On an object store one request, where `exists` takes two of a directory, and of what is not there. */
  @nowarn("cat=deprecation")
  def isDirectory(fs: FileSystem, path: Path): Boolean = fs.isDirectory(path)

  /** The local file system without its .crc files: a replaced file must not be checked against an old sum. */
  private def unchecked(fs: FileSystem): FileSystem = fs match {
    case local: LocalFileSystem => local.getRawFileSystem
    case other => other
  }

  private def put(fs: FileSystem, path: Path, text: String, over: Boolean = true): Unit =
    StorageFailure.thrown {
      val out = fs.create(path, over)
      try out.write(text.getBytes(UTF_8))
      finally out.close()
    }

  private def move(fs: FileSystem, from: Path, to: Path): Unit =
    if (fs.getUri.getScheme == "file") {
      if (!fs.rename(from, to)) throw new IOException(s"Cannot rename $from to $to")
    } else {
      try FileContext.getFileContext(fs.getUri, fs.getConf).rename(from, to, Options.Rename.OVERWRITE)
      catch {
        case _: UnsupportedFileSystemException =>
          fs.delete(to, false)
          if (!fs.rename(from, to)) throw new IOException(s"Cannot rename $from to $to")
      }
    }
}

/** Why a file system cannot go on. Hadoop's local one throws an Error where others throw an exception. */
private[zorder] object StorageFailure {
  private val Full = Seq("no space left", "quota", "not enough space")

  /** The first line of the message. */
  def unapply(e: Throwable): Option[String] = e match {
    case wrapped: FSError if wrapped.getCause != null => Some(ZOrderException.firstLine(wrapped.getCause))
    case _: IOException | _: FSError => Some(ZOrderException.firstLine(e))
    case _ => None
  }

  /** Whether the disk or the quota is full. */
  def isFull(said: String): Boolean = {
    val lower = said.toLowerCase(Locale.ROOT)
    Full.exists(lower.contains)
  }

  /** Turns the Error into an exception. */
  def thrown[A](body: => A): A =
    try body
    catch { case e: FSError => throw new IOException(unapply(e).getOrElse(""), e) }
}

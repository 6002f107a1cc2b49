package org.apache.spark.sql.zorder.table.parquet.files

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, NoSuchFileException, Path => JPath, Paths}

import scala.util.Try

import org.apache.hadoop.fs.Path

/**
 * Where file systems are mounted on this machine. A mount point cannot be renamed, and a directory beside it is on
 * another volume.
 */
private[zorder] object MountPoints {

  private val table = Paths.get("/proc/self/mountinfo")

  /** The text of the system's table of mounts; None if there is no such table. A test sets another. */
  @volatile private[zorder] var source: () => Option[String] =
    () => Try(new String(Files.readAllBytes(table), UTF_8)).toOption

  /** The mount points in a `mountinfo` text: the fifth field, with spaces and the like as `\040`. */
  def parse(mountinfo: String): Seq[String] =
    mountinfo.split('\n').toSeq.map(_.trim.split(' ')).filter(_.length > 4).map(f => unescaped(f(4)))

  /** The first of the mount points that is `dir` or lies below it. */
  def among(points: Seq[String], dir: String): Option[String] =
    points.find(p => p == dir || p.startsWith(s"$dir/"))

  /** A mount point at `dir` or below it, if `dir` is on the local disk. */
  def within(dir: Path): Option[String] = local(dir).flatMap { at =>
    source() match {
      case Some(text) => among(parse(text), at.toString)
      case None => Some(at.toString).filter(_ => otherStore(at))
    }
  }

  def isPoint(dir: Path): Boolean = local(dir).exists(at => within(dir).contains(at.toString))

  /** As the kernel names it: without links. */
  private def local(dir: Path): Option[JPath] =
    if (!isLocal(dir)) None
    else {
      val at = Paths.get(dir.toUri.getPath)
      try Some(at.toRealPath())
      catch { case _: NoSuchFileException => None }
    }

  private def otherStore(at: JPath): Boolean =
    at.getParent != null && Files.getFileStore(at) != Files.getFileStore(at.getParent)

  def isLocal(path: Path): Boolean = Option(path.toUri.getScheme).forall(_ == "file")

  private def unescaped(field: String): String =
    "\\\\([0-7]{3})".r.replaceAllIn(
      field,
      m => java.util.regex.Matcher.quoteReplacement(Integer.parseInt(m.group(1), 8).toChar.toString))
}

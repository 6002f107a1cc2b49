package org.apache.spark.sql.zorder.table.parquet.files

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, NoSuchFileException, Path => JPath, Paths}

import scala.util.Try

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.file.PathText

/** Refuses links and mount points on the local disk: to exchange them would change another place. */
private[table] object LocalRefusals {

  /**
   * The table's own directory. Those above it may be links.
   *
   * @param named
   *   the table as a statement can write it, if it was given by its name
   */
  def link(root: Path, named: Option[String] = None): Unit = SymbolicLinks.target(root).foreach { to =>
    named match {
      case None => refuse("ZORDER_DIRECTORY_REFUSED.SYMBOLIC_LINK", "path" -> root, "place" -> to)
      case Some(sql) =>
        refuse(
          "ZORDER_DIRECTORY_REFUSED.SYMBOLIC_LINK_OF_TABLE",
          "path" -> root,
          "place" -> to,
          "sql" -> sql,
          "location" -> TableRef.Location(to.toString).sql)
    }
  }

  def partitionLinks(dirs: Iterable[Path]): Unit = dirs.foreach { dir =>
    SymbolicLinks.target(dir).foreach { to =>
      refuse("ZORDER_DIRECTORY_REFUSED.SYMBOLIC_LINK_OF_PARTITION", "dir" -> dir, "place" -> to)
    }
  }

  /** The partition directories below `root`. */
  def partitionLinks(root: Path, tree: DirectoryListing): Unit =
    if (MountPoints.isLocal(root)) partitionLinks(tree.dirs.filter(_.contains('=')).map(new Path(root, _)))

  def mount(dir: Path): Unit = MountPoints.within(dir).foreach(refuseMount(dir, _))

  /** Only mounts inside the table, if the root itself is not moved. */
  def mountBelow(fs: FileSystem, root: Path, dirs: Iterable[Path]): Unit =
    if (fs.getUri.getScheme == "file") {
      val points = MountPoints.source().map(MountPoints.parse).getOrElse(Nil)
      dirs.filter(_ != root).foreach { dir =>
        MountPoints.among(points, dir.toUri.getPath).foreach(refuseMount(dir, _))
      }
    }

  private def refuseMount(dir: Path, at: String): Nothing =
    refuse("ZORDER_DIRECTORY_REFUSED.MOUNT_POINT", "place" -> at, "dir" -> dir)
}

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
    points.find(PathText.isWithin(_, dir))

  /** A mount point at `dir` or below it, if `dir` is on the local disk. */
  def within(dir: Path): Option[String] = local(dir).flatMap { at =>
    source() match {
      case Some(text) => among(parse(text), at.toString)
      case None => Some(at.toString).filter(_ => otherStore(at))
    }
  }

  def isPoint(dir: Path): Boolean = local(dir).exists(at => within(dir).contains(at.toString))

  /** The path as the kernel names it, without links. */
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

/** Directories of the local disk, which may have several paths. */
private[parquet] object LocalDirectories {

  /** Whether both paths lead to one directory, by links above it or by a second mount. */
  def same(a: Path, b: Path): Boolean =
    MountPoints.isLocal(a) && MountPoints.isLocal(b) &&
      Try(Files.isSameFile(Paths.get(a.toUri.getPath), Paths.get(b.toUri.getPath))).getOrElse(false)
}

/** Symbolic links on the local disk, which Hadoop follows silently. */
private[zorder] object SymbolicLinks {

  /** The target of a directory that is itself a link. */
  def target(dir: Path): Option[JPath] =
    if (!MountPoints.isLocal(dir)) None
    else {
      val at = Paths.get(dir.toUri.getPath)
      if (!Files.isSymbolicLink(at)) None
      else Some(Try(at.toRealPath()).getOrElse(Files.readSymbolicLink(at)))
    }

  /** Whether `root`, or a directory between it and the file, is a link. */
  def onTheWay(root: Path, rel: String): Boolean =
    MountPoints.isLocal(root) && {
      val parents = Iterator.iterate(new Path(root, rel).getParent)(_.getParent).takeWhile(_ != null)
      val depth = rel.count(_ == '/') + 1
      parents.take(depth).exists(target(_).isDefined)
    }
}

package org.apache.spark.sql.zorder.table.resolve

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, MountPoints, SymbolicLinks}

/** Refuses links and mount points on the local disk: to exchange them would change another place. */
private[table] object LocalRefusals {

  /** The table's own directory. Those above it may be links. */
  def link(root: Path, named: Option[String] = None): Unit = SymbolicLinks.target(root).foreach { to =>
    val instead = named.fold(s"name $to")(t => s"ALTER TABLE $t SET LOCATION '$to' first")
    refuse(s"$root is a symbolic link to $to, and an exchange of directories would put a directory in its " +
      s"place; $instead.")
  }

  def partitionLinks(dirs: Iterable[Path]): Unit = dirs.foreach { dir =>
    SymbolicLinks.target(dir).foreach { to =>
      refuse(s"The partition directory $dir is a symbolic link to $to, which an exchange of directories " +
        s"would replace; put the files of $to in its place, or write a copy with INTO 'path'.")
    }
  }

  /** The partition directories below `root`. */
  def partitionLinks(root: Path, tree: DirectoryListing): Unit =
    if (MountPoints.isLocal(root)) partitionLinks(tree.dirs.filter(_.contains('=')).map(new Path(root, _)))

  def mount(dir: Path): Unit = MountPoints.within(dir).foreach(at => refuse(mountPoint(dir, at)))

  /** Only mounts inside the table, if the root itself is not moved. */
  def mountBelow(fs: FileSystem, root: Path, dirs: Iterable[Path]): Unit =
    if (fs.getUri.getScheme == "file") {
      val points = MountPoints.source().map(MountPoints.parse).getOrElse(Nil)
      dirs.filter(_ != root).foreach { dir =>
        MountPoints.among(points, dir.toUri.getPath).foreach(at => refuse(mountPoint(dir, at)))
      }
    }

  private def mountPoint(dir: Path, at: String): String =
    s"$at is a mount point, so $dir cannot be exchanged for another directory on the same volume; " +
      "keep the table in a directory below the mount point, or write a copy with INTO 'path'."
}

package org.apache.spark.sql.zorder.table.resolve

import org.apache.hadoop.fs.{FileSystem, Path, UnsupportedFileSystemException}
import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.FormatDescriptor
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing

/** Refuses directories that must not be rewritten as plain Parquet. */
private[table] object PathRefusals {

  /** What the text of a path tells. */
  def text(path: String): Unit = {
    if (path.trim.isEmpty) refuse("The path is empty; give the directory of a Parquet table.")
    if (path.exists("*?[{".indexOf(_) >= 0))
      refuse(s"The path $path is a pattern; give one directory, and pick partitions by WHERE.")
  }

  /** Refuses what is no path for Hadoop, or has no file system. */
  def known(session: ClassicSession, path: String): Unit = {
    text(path)
    val at =
      try new Path(path)
      catch {
        case e: IllegalArgumentException =>
          refuse(
            s"$path is no path for Hadoop (${ZOrderException.firstLine(e)}); write it in full, beginning " +
              "with / or with a scheme and a host or bucket (s3a://bucket/t).")
      }
    def none(e: Throwable): Nothing =
      refuse(
        s"There is no file system for $path in this session (${ZOrderException.firstLine(e)}); check the " +
          "scheme, and that its jar is there (hadoop-aws for s3a).")
    try {
      at.getFileSystem(session.sessionState.newHadoopConf())
      ()
    } catch {
      case e: UnsupportedFileSystemException => none(e)
      case e: RuntimeException if e.getCause.isInstanceOf[ClassNotFoundException] => none(e)
    }
  }

  /** Journals are named after the directory, and Hadoop takes the text before a colon for a scheme. */
  def named(root: Path): Unit =
    if (root.getName.contains(":"))
      refuse(s"The name of $root has a colon, and Hadoop cannot make the names beside it that a run needs; " +
        "rename the directory.")

  def notInPlace(root: Path): Nothing =
    refuse(s"$root is on an object store, where a directory cannot be exchanged in one step; " +
      "write a copy with INTO 'path', or register it (CREATE TABLE t USING parquet LOCATION ...) " +
      "and name the table.")

  /**
   * Directories that can be renamed nowhere, or only within their own part of the file system.
   *
   * @param dirs
   *   of the partitions; empty for a table whose own directory is exchanged
   */
  def exchangeable(fs: FileSystem, root: Path, dirs: Seq[Path]): Unit =
    if (fs.getUri.getScheme != "file") {
      val moving = if (dirs.isEmpty) Seq(root) else dirs
      // what a directory is renamed to lies beside the table
      val outside = fs.getFileStatus(root.getParent)
      (root +: moving).distinct.map(fs.getFileStatus).foreach { s =>
        if (s.isEncrypted && !outside.isEncrypted)
          refuse(s"${s.getPath} is in an encryption zone that ends there, so its files cannot be exchanged for ones " +
            "written beside it; keep the table in a directory below the zone's root, or write a copy with INTO 'path'.")
        if (s.isSnapshotEnabled && moving.contains(s.getPath))
          refuse(
            s"${s.getPath} is a snapshottable directory, which HDFS does not rename; keep the table in a " +
              "directory below it, or write a copy with INTO 'path'.")
      }
    }

  /** Within one mount of viewfs a rename is that of the file system behind it. */
  def mount(fs: FileSystem, root: Path): Unit = if (fs.getUri.getScheme == "viewfs") {
    val (own, above) = (fs.resolvePath(root), fs.resolvePath(root.getParent))
    if (own.getParent != above)
      refuse(s"$root is a mount of viewfs, so its directory cannot be exchanged for one beside it; keep the table in " +
        "a directory below the mount, or write a copy with INTO 'path'.")
  }

  def top(root: Path): Unit =
    if (root.getParent == null)
      refuse(s"$root is the root of its file system; give the directory of a table.")

  /** Directories that belong to another format or to a stream. */
  def foreign(fs: FileSystem, root: Path): Unit = {
    FormatDescriptor.at(fs, root).foreach(MissingFormat.refuseTable(root.toString, _))
    for {
      table <- Iterator.iterate(root.getParent)(_.getParent).takeWhile(_ != null)
      format <- FormatDescriptor.at(fs, table)
    } refuse(s"$root lies inside the ${format.name} table at $table; name that, and pick its part by WHERE.")
    if (fs.exists(new Path(root, "_spark_metadata")))
      refuse(s"$root is written by a streaming query (_spark_metadata lists its files); " +
        "copy its rows first (CREATE TABLE ... USING parquet AS SELECT), and cluster that.")
  }

  def writable(fs: FileSystem, dir: Path, root: Path): Unit =
    try fs.access(dir, FsAction.WRITE_EXECUTE)
    catch {
      case _: AccessControlException =>
        refuse(s"The directory $dir is not writable for this user, so the data of $root cannot be " +
          "exchanged; ask for write access, or write a copy with INTO 'path'.")
    }

  /** Refuses directories whose structure an exchange would not preserve. */
  def shape(root: Path, tree: DirectoryListing): Unit = {
    val visible = tree.files.filter(f => f.length > 0 && !f.rel.split('/').exists(DirectoryListing.isHidden))
    visible.find(!_.isData).foreach { f =>
      refuse(s"${f.rel.take(f.rel.lastIndexOf('/'))} in $root is not a partition directory but holds " +
        "files, perhaps of another table; move it away, or name that table.")
    }
    val (top, below) = visible.partition(!_.rel.contains('/'))
    if (top.nonEmpty && below.nonEmpty)
      refuse(s"$root has partition directories and also files beside them (${top.head.rel}), which Spark " +
        "does not read; move these files into partitions or away.")
    below.find(_.rel.split('/').init.map(_.takeWhile(_ != '=')).toSeq !=
      below.head.rel.split('/').init.map(_.takeWhile(_ != '=')).toSeq).foreach { f =>
      refuse(s"The partition directories of $root do not have the same columns " +
        s"(${below.head.rel}, ${f.rel}); move one of them away.")
    }
    visible.find(_.rel.contains(':')).foreach { f =>
      refuse(
        s"${f.rel} in $root has a colon in its name, which Hadoop takes for the end of a scheme; rename it.")
    }
    tree.dirs.find(d => FormatDescriptor.ownDirectories(d.split('/').last)).foreach { d =>
      refuse(s"$root holds a table of another format ($d); move it away, or name that table.")
    }
  }
}

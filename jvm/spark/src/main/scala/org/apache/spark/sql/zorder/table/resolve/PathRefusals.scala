package org.apache.spark.sql.zorder.table.resolve

import org.apache.hadoop.fs.{FileSystem, Path, UnsupportedFileSystemException}
import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.storage.{ObjectStores, TextFiles}

/** Directories that must not be rewritten as plain Parquet. */
private[table] object PathRefusals {

  /** Things that the text of a path shows. */
  def text(path: String): Unit = {
    if (path.trim.isEmpty) refuse("The path is empty; give the directory of a Parquet table.")
    if (path.exists("*?[{".indexOf(_) >= 0))
      refuse(s"The path $path is a pattern; give one directory, and pick partitions by WHERE.")
  }

  /** What Hadoop cannot make a path of, or has no file system for. */
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

  /** Journals and new directories are named after the directory, and Hadoop takes what is before a colon for a scheme. */
  def named(root: Path): Unit =
    if (root.getName.contains(":"))
      refuse(s"The name of $root has a colon, and Hadoop cannot make the names beside it that a run needs; " +
        "rename the directory.")

  def inPlace(root: Path, scheme: String): Unit =
    if (ObjectStores.isOne(scheme))
      refuse(s"$root is on an object store, where a directory cannot be exchanged in one step; " +
        "write a copy with INTO 'path', or register it (CREATE TABLE t USING parquet LOCATION ...) " +
        "and name the table.")

  def top(root: Path): Unit =
    if (root.getParent == null)
      refuse(s"$root is the root of its file system; give the directory of a table.")

  /** Directories that belong to another format or to a stream. */
  def foreign(fs: FileSystem, root: Path): Unit = {
    def has(name: String): Boolean = fs.exists(new Path(root, name))
    if (has("_delta_log"))
      MissingFormat.delta(s"$root is a Delta table")
    if (isHudi(fs, root)) MissingFormat.hudi(s"$root is a Hudi table")
    if (isIceberg(fs, root)) MissingFormat.iceberg(s"$root is an Iceberg table")
    inside(root, "Hudi", isHudi(fs, _))
    inside(root, "Iceberg", isIceberg(fs, _))
    if (has("_spark_metadata"))
      refuse(s"$root is written by a streaming query (_spark_metadata lists its files); " +
        "copy its rows first (CREATE TABLE ... USING parquet AS SELECT), and cluster that.")
  }

  private def inside(root: Path, format: String, isTable: Path => Boolean): Unit =
    Iterator.iterate(root.getParent)(_.getParent).takeWhile(_ != null).find(isTable).foreach { table =>
      refuse(s"$root lies inside the $format table at $table; name that, and pick its part by WHERE.")
    }

  private def isHudi(fs: FileSystem, dir: Path): Boolean =
    try fs.exists(new Path(dir, ".hoodie"))
    catch { case _: AccessControlException => false }

  private def isIceberg(fs: FileSystem, dir: Path): Boolean =
    try TextFiles.children(fs, new Path(dir, "metadata")).exists(_.getPath.getName.endsWith(".metadata.json"))
    catch { case _: AccessControlException => false }

  def writable(fs: FileSystem, dir: Path, root: Path): Unit =
    try fs.access(dir, FsAction.WRITE_EXECUTE)
    catch {
      case _: AccessControlException =>
        refuse(s"The directory $dir is not writable for this user, so the data of $root cannot be " +
          "exchanged; ask for write access, or write a copy with INTO 'path'.")
    }

  /** Layouts of directories that a swap would not get right. */
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
    tree.dirs.find(d => d.split('/').last == "_delta_log" || d.split('/').last == ".hoodie").foreach { d =>
      refuse(s"$root holds a table of another format ($d); move it away, or name that table.")
    }
  }
}

package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path, UnsupportedFileSystemException}
import org.apache.hadoop.fs.permission.FsAction
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.expressions.{Alias, Attribute}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Project}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.zorder.build.BuildInfo
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableFormatRegistry}
import org.apache.spark.sql.zorder.table.file.PathText
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

/**
 * Tables whose directories overlap: a rewrite of one would take the files of the other along. To know that, the catalog
 * is asked for all tables of the database and of the current one, in two calls for each: so only by statements that
 * change directories.
 */
private[table] object OverlapRefusals {

  /**
   * No other table of the database may lie inside, around, or (for a table) at the same place.
   *
   * @return
   *   the table that lies at a path, as far as the catalog tells
   */
  def refuse(
      session: ClassicSession,
      root: Path,
      self: Option[TableIdentifier]): Option[CatalogTable] = {
    val mine = PathText.of(root)
    val found = places(session, self)
    found.foreach { case (t, at) =>
      val name = t.identifier.unquotedString
      if (at.startsWith(s"$mine/"))
        ZOrderException.refuse(
          s"The table $name lies inside $root; a rewrite would take its files along: name $name itself.")
      if (mine.startsWith(s"$at/"))
        ZOrderException.refuse(s"$root lies inside the table $name; name $name, and pick its part by WHERE.")
      if (at == mine && self.isDefined)
        ZOrderException.refuse(
          s"The tables ${self.get.unquotedString} and $name share the directory $root; " +
            "drop one of them.")
    }
    found.collectFirst { case (t, at) if at == mine => t }
  }

  /** The table that lies there, as far as the catalog tells, for a statement that changes nothing. */
  def at(session: ClassicSession, root: Path): Option[CatalogTable] =
    places(session, None).collectFirst { case (t, at) if at == PathText.of(root) => t }

  /** The tables that the catalog knows, with their directories. */
  private def places(session: ClassicSession, self: Option[TableIdentifier]): Seq[(CatalogTable, String)] = {
    val catalog = session.sessionState.catalog
    val databases = (self.flatMap(_.database).toSeq :+ catalog.getCurrentDatabase).distinct
    val others =
      try {
        databases.flatMap { db =>
          catalog.getTablesByName(catalog.listTables(db).filter(_.database.isDefined))
        }
      } catch { case NonFatal(_) => Nil } // a catalog that cannot tell forbids nothing
    for {
      t <- others
      if t.tableType != CatalogTableType.VIEW && !self.exists(same(_, t.identifier))
      at <- t.storage.locationUri.map(uri => PathText.of(new Path(uri)))
    } yield t -> at
  }

  private def same(a: TableIdentifier, b: TableIdentifier): Boolean =
    a.table.equalsIgnoreCase(
      b.table) && a.database.map(_.toLowerCase(Locale.ROOT)) == b.database.map(_.toLowerCase(Locale.ROOT))
}

/** Refuses tables of the catalog that must not be rewritten as plain Parquet. */
private[table] object FormatRefusals {

  def provider(name: String, provider: String): Nothing = {
    FormatDescriptor.ofProvider(provider).foreach(MissingFormat.refuseTable(name, _))
    refuse(
      s"$name is stored as ${provider.toLowerCase(Locale.ROOT)}, and only Parquet tables can be clustered; " +
        s"copy it first: CREATE TABLE ... USING parquet AS SELECT * FROM $name.")
  }

  /** A Hive table is accepted only if Spark's own Parquet reader reads it. */
  def hive(session: ClassicSession, name: String, meta: CatalogTable): Unit = {
    val serde = meta.storage.serde.getOrElse("").toLowerCase(Locale.ROOT)
    if (!serde.contains("parquet"))
      provider(name, s"Hive format (${meta.storage.serde.getOrElse("no serde")})")
    val converts = session.sessionState.conf.getConfString("spark.sql.hive.convertMetastoreParquet", "true")
    if (!converts.trim.equalsIgnoreCase("true"))
      refuse(s"Spark reads the Hive table $name through Hive's reader here; " +
        "set spark.sql.hive.convertMetastoreParquet to true first.")
  }

  /** A filter or a computed column in the plan of a table alone is a row filter or a mask. */
  def plan(name: String, plan: LogicalPlan): Unit = {
    val padded = CharVarcharUtils.hasCharVarchar(plan.schema) ||
      plan.output.exists(a => CharVarcharUtils.getRawType(a.metadata).isDefined)
    val changed = plan.collectFirst {
      case f: Filter => f
      case p: Project if !padded && !p.projectList.forall(plainColumn) => p
    }
    if (changed.isDefined)
      refuse(s"$name has a row filter or a column mask for this user, so a rewrite would lose data; " +
        "run as a user who sees everything.")
  }

  private def plainColumn(e: org.apache.spark.sql.catalyst.expressions.Expression): Boolean = e match {
    case _: Attribute => true
    case Alias(_: Attribute, _) => true
    case _ => false
  }

  /** If one partition lay inside the directory of another, its files would be rewritten twice. */
  def partitions(name: String, locations: Map[String, Path]): Unit = {
    val sorted = locations.toSeq.map { case (p, dir) => (PathText.of(dir) + "/", p) }.sorted
    sorted.zip(sorted.drop(1)).find { case ((a, _), (b, _)) => b.startsWith(a) }.foreach {
      case ((a, p), (_, q)) =>
        refuse(s"The partitions $p and $q of $name lie in one another ($a); " +
          "give each a directory of its own (ALTER TABLE ... PARTITION ... SET LOCATION).")
    }
  }
}

/** Refuses a table of a format that no adapter has opened, and says what is missing. */
private object MissingFormat {

  /** @param table its name or path, with which the sentence begins */
  def refuseTable(table: String, format: FormatDescriptor): Nothing = {
    val what = s"$table is ${format.aTable}"
    Option(BuildInfo.formatJar(format.id)) match {
      case None =>
        refuse(
          s"$what, and ${format.name} has no release for Spark ${BuildInfo.spark()} that this jar works " +
            s"with; ${format.otherLines}.")
      case Some(_) if TableFormatRegistry.isPresent(format) => refuse(s"$what ${format.notFound}.")
      case Some(module) =>
        refuse(
          s"$what, and ${format.name}'s classes are not on the class path; add them, as with " +
            s"--packages $module.")
    }
  }
}

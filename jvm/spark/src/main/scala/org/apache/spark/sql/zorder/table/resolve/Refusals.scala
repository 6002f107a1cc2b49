package org.apache.spark.sql.zorder.table.resolve

import java.io.IOException
import java.util.Locale

import scala.util.Try
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
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableFormatRegistry}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.commit.CatalogEntry
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, ListedFile}
import org.apache.spark.sql.zorder.table.storage.TextFiles

/** Refuses directories that must not be rewritten as plain Parquet. */
private[table] object PathRefusals {
  private val SinkLog = "_spark_metadata"
  private val IgnoredPaths = "spark.sql.files.ignoredPathSegmentRegex"
  private val HiddenByDefault = "^[._]"

  /** What the text of a path tells. */
  def text(path: String): Unit = {
    if (path.trim.isEmpty) refuse("ZORDER_DIRECTORY_REFUSED.EMPTY_PATH")
    if (path.exists("*?[{".indexOf(_) >= 0)) refuse("ZORDER_DIRECTORY_REFUSED.PATTERN", "path" -> path)
  }

  /** Refuses a session (of Spark 4.3) whose queries pass over other files than those that Spark hides by default. */
  def listing(session: ClassicSession): Unit =
    session.conf.getOption(IgnoredPaths).filter(_ != HiddenByDefault).foreach { value =>
      refuse("ZORDER_SESSION_REFUSED.IGNORED_PATHS", "setting" -> IgnoredPaths, "value" -> value)
    }

  /** Refuses what is no path for Hadoop, or has no file system. */
  def known(session: ClassicSession, path: String): Unit = {
    text(path)
    val at =
      try new Path(path)
      catch {
        case e: IllegalArgumentException =>
          refuse("ZORDER_DIRECTORY_REFUSED.INVALID_PATH", "path" -> path, "cause" -> firstLine(e))
      }
    def none(e: Throwable): Nothing =
      refuse("ZORDER_SESSION_REFUSED.NO_FILE_SYSTEM", "path" -> path, "cause" -> firstLine(e))
    // a host that is not there, for one
    def fails(e: Throwable): Nothing =
      refuse("ZORDER_STORAGE_FAILED.FILE_SYSTEM", "path" -> path, "cause" -> firstLine(e))
    try {
      at.getFileSystem(session.sessionState.newHadoopConf())
      ()
    } catch {
      case e: UnsupportedFileSystemException => none(e)
      case e: RuntimeException if e.getCause.isInstanceOf[ClassNotFoundException] => none(e)
      case e @ (_: IOException | _: IllegalArgumentException) => fails(e)
    }
  }

  /** Journals are named after the directory, and Hadoop takes the text before a colon for a scheme. */
  def named(root: Path): Unit =
    if (root.getName.contains(":")) refuse("ZORDER_DIRECTORY_REFUSED.COLON_IN_NAME", "path" -> root)

  def notInPlace(root: Path): Nothing = refuse("ZORDER_DIRECTORY_REFUSED.OBJECT_STORE", "path" -> root)

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
          refuse("ZORDER_DIRECTORY_REFUSED.ENCRYPTION_ZONE", "dir" -> s.getPath)
        if (s.isSnapshotEnabled && moving.contains(s.getPath))
          refuse("ZORDER_DIRECTORY_REFUSED.SNAPSHOTTABLE", "dir" -> s.getPath)
      }
    }

  /** Within one mount of viewfs a rename is that of the file system behind it. */
  def mount(fs: FileSystem, root: Path): Unit = if (fs.getUri.getScheme == "viewfs") {
    val (own, above) = (fs.resolvePath(root), fs.resolvePath(root.getParent))
    if (own.getParent != above) refuse("ZORDER_DIRECTORY_REFUSED.VIEWFS_MOUNT", "path" -> root)
  }

  def top(root: Path): Unit =
    if (root.getParent == null) refuse("ZORDER_DIRECTORY_REFUSED.FILE_SYSTEM_ROOT", "path" -> root)

  /**
   * Directories that belong to another format or to a stream.
   *
   * @param tree
   *   what lies below `root`, where that is known
   */
  def foreign(fs: FileSystem, root: Path, tree: Option[DirectoryListing]): Unit = {
    tree.fold(FormatDescriptor.at(fs, root))(t => FormatDescriptor.all.find(isTable(t, _)))
      .foreach(MissingFormat.refuseTable(root.toString, _))
    outerTable(fs, root).foreach { case (table, format) =>
      refuse(
        "ZORDER_DIRECTORY_REFUSED.INSIDE_FORMAT_TABLE",
        "path" -> root,
        "format" -> format.name,
        "dir" -> table)
    }
    if (tree.fold(TextFiles.isDirectory(fs, new Path(root, SinkLog)))(_.dirs.contains(SinkLog)))
      refuse("ZORDER_TABLE_REFUSED.STREAMING_SINK", "path" -> root)
  }

  /** The table of a format that the directory lies in. */
  def outerTable(fs: FileSystem, root: Path): Option[(Path, FormatDescriptor)] =
    Iterator.iterate(root.getParent)(_.getParent).takeWhile(_ != null)
      .flatMap(dir => FormatDescriptor.at(fs, dir).map(dir -> _)).find(_ => true)

  /** As `FormatDescriptor.isTable`, of what is listed. */
  private def isTable(tree: DirectoryListing, format: FormatDescriptor): Boolean =
    tree.dirs.contains(format.directory) && format.fileEnding.forall(ending =>
      tree.files.exists(f => f.rel.startsWith(s"${format.directory}/") && f.rel.endsWith(ending)))

  def writable(fs: FileSystem, dir: Path, root: Path): Unit =
    try fs.access(dir, FsAction.WRITE_EXECUTE)
    catch {
      case _: AccessControlException =>
        refuse("ZORDER_NO_PERMISSION.WRITE", "dir" -> dir, "path" -> root)
    }

  /** Refuses directories whose structure an exchange would not preserve. */
  def shape(root: Path, tree: DirectoryListing): Unit = {
    val visible = tree.files.filter(f => f.length > 0 && !f.rel.split('/').exists(DirectoryListing.isHidden))
    visible.find(!_.isData).foreach { f =>
      refuse(
        "ZORDER_DIRECTORY_REFUSED.NOT_A_PARTITION",
        "dir" -> f.rel.take(f.rel.lastIndexOf('/')),
        "path" -> root)
    }
    val (top, below) = visible.partition(!_.rel.contains('/'))
    if (top.nonEmpty && below.nonEmpty)
      refuse("ZORDER_DIRECTORY_REFUSED.FILES_BESIDE_PARTITIONS", "path" -> root, "file" -> top.head.rel)
    def columnsOf(rel: String): Seq[String] = rel.split('/').init.map(_.takeWhile(_ != '=')).toSeq
    below.find(f => columnsOf(f.rel) != columnsOf(below.head.rel)).foreach { f =>
      refuse(
        "ZORDER_DIRECTORY_REFUSED.PARTITION_COLUMNS_DIFFER",
        "path" -> root,
        "file" -> below.head.rel,
        "other" -> f.rel)
    }
    // no path of its own, even where Spark passes over the file
    def isInPartition(f: ListedFile) = f.rel.split('/').init.forall(_.contains('='))
    tree.files.find(f => f.rel.contains(':') && isInPartition(f)).foreach { f =>
      refuse("ZORDER_DIRECTORY_REFUSED.COLON_IN_FILE_NAME", "file" -> f.rel, "path" -> root)
    }
    tree.dirs.find(d => FormatDescriptor.ownDirectories(d.split('/').last)).foreach { d =>
      refuse("ZORDER_DIRECTORY_REFUSED.HOLDS_FORMAT_TABLE", "path" -> root, "dir" -> d)
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
   * The table that lies at a path, as far as the catalog tells, for a statement that changes directories: no other table of
   * the database may lie inside, around, or at the same place.
   */
  def onlyOneAt(
      session: ClassicSession,
      root: Path,
      self: Option[TableIdentifier]): Option[CatalogTable] = {
    val mine = PathText.of(root)
    val found = places(session, self)
    found.foreach { case (t, at) =>
      val name = t.identifier.unquotedString
      if (at.startsWith(s"$mine/"))
        refuse("ZORDER_DIRECTORY_REFUSED.HOLDS_TABLE", "table" -> name, "path" -> root)
      if (mine.startsWith(s"$at/"))
        refuse("ZORDER_DIRECTORY_REFUSED.INSIDE_TABLE", "path" -> root, "table" -> name)
    }
    val here = found.collect { case (t, at) if at == mine => t }
    (self ++ here.map(_.identifier)).map(_.unquotedString).toSeq match {
      case Seq(one, other, _*) =>
        refuse("ZORDER_DIRECTORY_REFUSED.SHARED", "table" -> one, "other" -> other, "path" -> root)
      case _ => here.headOption
    }
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
          val names = catalog.listTables(db).filter(_.database.isDefined)
          try catalog.getTablesByName(names)
          // a table that Spark cannot read hides no other
          catch { case NonFatal(_) => names.flatMap(n => Try(catalog.getTableRawMetadata(n)).toOption) }
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

  /** @param sql the table as a statement can write it */
  def provider(name: String, sql: String, provider: String): Nothing = {
    FormatDescriptor.ofProvider(provider).foreach(MissingFormat.refuseTable(name, _))
    refuse(
      "ZORDER_TABLE_REFUSED.NOT_PARQUET",
      "table" -> name,
      "format" -> provider.toLowerCase(Locale.ROOT),
      "sql" -> sql)
  }

  /** A Hive table is accepted only if Spark's own Parquet reader reads it. */
  def hive(session: ClassicSession, name: String, meta: CatalogTable): Unit = {
    val serde = meta.storage.serde.getOrElse("").toLowerCase(Locale.ROOT)
    if (!serde.contains("parquet"))
      provider(
        name,
        CatalogEntry.sql(name, meta.identifier),
        s"Hive format (${meta.storage.serde.getOrElse("no serde")})")
    val converts = session.sessionState.conf.getConfString("spark.sql.hive.convertMetastoreParquet", "true")
    if (!converts.trim.equalsIgnoreCase("true")) refuse("ZORDER_SESSION_REFUSED.HIVE_READER", "table" -> name)
  }

  /** A filter or a computed column in the plan of a table alone is a row filter or a mask. */
  def plan(name: String, plan: LogicalPlan): Unit = {
    val padded = CharVarcharUtils.hasCharVarchar(plan.schema) ||
      plan.output.exists(a => CharVarcharUtils.getRawType(a.metadata).isDefined)
    val changed = plan.collectFirst {
      case f: Filter => f
      case p: Project if !padded && !p.projectList.forall(plainColumn) => p
    }
    if (changed.isDefined) refuse("ZORDER_NO_PERMISSION.ROW_FILTER", "table" -> name)
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
        refuse(
          "ZORDER_DIRECTORY_REFUSED.PARTITIONS_OVERLAP",
          "partition" -> p,
          "other" -> q,
          "table" -> name,
          "dir" -> a)
    }
  }
}

/** Refuses a table of a format that no adapter has opened, and says what is missing. */
private object MissingFormat {

  /** @param table its name or path */
  def refuseTable(table: String, format: FormatDescriptor): Nothing =
    Option(BuildInfo.formatJar(format.id)) match {
      case None =>
        refuse(
          "ZORDER_SESSION_REFUSED.FORMAT_HAS_NO_RELEASE",
          "table" -> table,
          "kind" -> format.aTable,
          "format" -> format.name,
          "version" -> BuildInfo.spark(),
          "instead" -> format.otherLines)
      case Some(_) if TableFormatRegistry.isPresent(format) => refuse(format.notFound, "table" -> table)
      case Some(module) =>
        refuse(
          "ZORDER_SESSION_REFUSED.FORMAT_NOT_ON_CLASS_PATH",
          "table" -> table,
          "kind" -> format.aTable,
          "format" -> format.name,
          "module" -> module)
    }
}

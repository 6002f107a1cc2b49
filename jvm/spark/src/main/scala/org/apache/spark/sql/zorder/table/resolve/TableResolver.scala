package org.apache.spark.sql.zorder.table.resolve

import java.nio.file.AccessDeniedException
import java.util.Locale

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.connector.catalog.{CatalogPlugin, CatalogV2Util, Identifier, Table, TableCatalog}
import org.apache.spark.sql.zorder.conf.{NearestName, OptionSetting, SessionKeys}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, FormatDescriptor, TableFormatRegistry, TableRef}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.{ParquetTable, PathParquetTable}
import org.apache.spark.sql.zorder.table.parquet.commit.{CatalogCommit, ExchangeMark, PathRecovery}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, HiddenDirectories, LocalRefusals}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  JournalKind,
  JournalState,
  JournalStore,
  TableIdentity,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.storage.{AtomicRenames, TextFiles}

/** Finds the table that a statement names. A table that cannot be rewritten is refused here, before any work. */
object TableResolver extends Logging {

  /**
   * Finds the table for a statement that reads. Nothing is changed, not even what a crashed commit has left: this is
   * reported in the log and in `ClusterTable.unfinished`.
   *
   * @param options
   *   of the statement, if it is a run
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: what is wrong with the table and what to do
   */
  def locate(
      session: ClassicSession,
      ref: TableRef,
      options: Seq[OptionSetting] = Nil): ClusterTable = permitted(ref) {
    known(session, ref)
    val table =
      TableFormatRegistry.locate(session, ref).getOrElse(parquetTable(session, ref, Access.Read, options))
    inFormat(ref, table)
    table.unfinished.foreach(logWarning(_))
    table
  }

  /**
   * Opens the table for a statement that changes it, after it has finished or undone what a crashed commit has left.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: what is wrong with the table and what to do
   */
  def open(
      session: ClassicSession,
      ref: TableRef,
      options: Seq[OptionSetting] = Nil): ClusterTable = permitted(ref) {
    known(session, ref)
    val table = TableFormatRegistry.open(session, ref).getOrElse(openParquet(session, ref, options))
    inFormat(ref, table)
    table
  }

  /** Plain Parquet that is called a Delta table may be one whose log is gone, with all files that it ever had. */
  private def inFormat(ref: TableRef, table: ClusterTable): Unit = ref match {
    case TableRef.Location(path, Some(format)) if format != table.format =>
      refuse(
        "ZORDER_TABLE_NOT_FOUND.FORMAT_PATH",
        "format" -> FormatDescriptor.ofProvider(format).fold("Parquet")(_.name),
        "path" -> path)
    case _ =>
  }

  /** HDFS and S3 have an error each for a user who may not look into a directory. */
  private def permitted[A](ref: TableRef)(find: => A): A =
    try find
    catch {
      case e @ (_: AccessControlException | _: AccessDeniedException) =>
        throw ZOrderException.over(
          e,
          "ZORDER_NO_PERMISSION.OPEN",
          "table" -> ref.sql,
          "cause" -> ZOrderException.firstLine(e))
    }

  private def known(session: ClassicSession, ref: TableRef): Unit = ref match {
    case TableRef.Location(path, _) => PathRefusals.known(session, path)
    case TableRef.InFormat(_, path) => PathRefusals.known(session, path)
    // a query of this name reads the view, and not the table of a catalog that an adapter would find
    case name: TableRef.Name if session.sessionState.catalog.isTempView(name.parts) =>
      refuse("ZORDER_TABLE_REFUSED.TEMPORARY_VIEW", "table" -> name.text)
    case _ =>
  }

  private[zorder] def openParquet(
      session: ClassicSession,
      ref: TableRef,
      options: Seq[OptionSetting]): ParquetTable =
    parquetTable(session, ref, Access.Change, options)

  private def parquetTable(
      session: ClassicSession,
      ref: TableRef,
      access: Access,
      options: Seq[OptionSetting]): ParquetTable = {
    PathRefusals.listing(session)
    ref match {
      case TableRef.Location(path, _) => byPath(session, path, access)
      case TableRef.Name(parts) => CatalogResolver.find(session, parts, access, options)
    }
  }

  private[table] def byPath(session: ClassicSession, text: String, access: Access): ParquetTable = {
    PathRefusals.text(text)
    val changes = access == Access.Change
    val asked = new Path(text)
    val hadoopConf = session.sessionState.newHadoopConf()
    val scheme = Option(asked.toUri.getScheme).getOrElse(FileSystem.getDefaultUri(hadoopConf).getScheme)
    if (changes && !AtomicRenames.onScheme(session, scheme)) PathRefusals.notInPlace(asked)
    val fs = asked.getFileSystem(hadoopConf)
    val root = fs.makeQualified(asked)
    PathRefusals.top(root)
    val beside = JournalStore.beside(fs, root)
    lazy val journals = if (changes) beside.all() else UnfinishedCommits.journals(beside)
    // a statement that reads asks whose the directory is only if there are journals, which may be a dropped table's
    val registered =
      if (changes) OverlapRefusals.onlyOneAt(session, root, None)
      else if (journals.isEmpty) None
      else OverlapRefusals.at(session, root)
    if (root.getName.contains("=")) refuse("ZORDER_DIRECTORY_REFUSED.PARTITION", "path" -> root)
    if (changes) {
      PathRefusals.named(root)
      LocalRefusals.link(root)
    }
    val managed = registered.filter(_.tableType == CatalogTableType.MANAGED)
    val identity = managed.map(TableIdentity.of).getOrElse("")
    if (changes) {
      placeOfTable(session, fs, root, registered)
      PathRecovery.recover(beside, journals, ExchangeMark.of(session, registered), identity = identity)
    }
    val tree = listed(session, access, beside, root.toString, identity, AtomicRenames.on(session, fs))(
      checked(fs, root, access))
    tree.dirs.find(HiddenDirectories.isOurs).foreach { dir =>
      refuse("ZORDER_DIRECTORY_REFUSED.CATALOG_PARTITIONS", "path" -> root, "dir" -> dir)
    }
    val moved = journals.find(j =>
      j.kind == JournalKind.Catalog && j.state == JournalState.Done &&
        j.units.exists(u => PathText.isWithin(PathText.of(u.old), PathText.of(root))))
    moved.foreach { j =>
      refuse("ZORDER_DIRECTORY_REFUSED.OLD_FILES", "path" -> root, "table" -> TableIdentity.name(j.table))
    }
    new PathParquetTable(session, text, fs, root, tree, registered = registered)
  }

  /**
   * A listing. For a statement that reads it is made when no directory is away; one that changes the table finds out by
   * itself.
   *
   * @param goes
   *   whether directories that are listed may go
   */
  private[table] def listed[A](
      session: ClassicSession,
      access: Access,
      store: JournalStore,
      name: String,
      identity: String,
      goes: Boolean)(listing: => A): A =
    if (access == Access.Change || !goes) listing
    else UnfinishedCommits.whole(
      name,
      store,
      identity,
      SessionKeys.commitWaitMs(session.sessionState.conf))(listing)

  /** Refuses the directory that a table's files have moved to: its journals are called otherwise. */
  private def placeOfTable(
      session: ClassicSession,
      fs: FileSystem,
      root: Path,
      registered: Option[CatalogTable]): Unit = {
    val named = registered.filter(
      _.properties.get(CatalogCommit.BaseProperty).exists(_ != root.getName)).map(_.identifier.unquotedString)
    def moved =
      JournalStore.movedTo(fs, root).map(j => TableIdentity.name(j.table)).filter(isThere(session, _))
    named.orElse(moved).foreach { table =>
      refuse("ZORDER_DIRECTORY_REFUSED.PLACE_OF_TABLE", "path" -> root, "table" -> table)
    }
  }

  private def isThere(session: ClassicSession, table: String): Boolean =
    Try(session.sessionState.catalog.tableExists(session.sessionState.sqlParser.parseTableIdentifier(table)))
      .getOrElse(false)

  /** Refuses directories that cannot be rewritten or exchanged, after recovery; returns what lies there. */
  private[table] def checked(fs: FileSystem, root: Path, access: Access): DirectoryListing = {
    val changes = access == Access.Change
    directory(fs, root)
    if (changes) {
      LocalRefusals.mount(root)
      PathRefusals.mount(fs, root)
    }
    val tree = DirectoryListing.walk(fs, root)
    PathRefusals.foreign(fs, root, Some(tree))
    if (changes) PathRefusals.writable(fs, root.getParent, root)
    PathRefusals.shape(root, tree)
    if (changes) {
      val partitions = tree.data.flatMap(f => Option(new Path(f.rel).getParent)).map(_.toString).distinct
      PathRefusals.exchangeable(fs, root, partitions.filter(_.nonEmpty).map(new Path(root, _)))
      LocalRefusals.partitionLinks(root, tree)
      if (tree.data.exists(_.rel.contains('/'))) PathRefusals.writable(fs, root, root)
    }
    tree
  }

  private def directory(fs: FileSystem, root: Path): Unit =
    if (!fs.exists(root)) {
      val siblings = TextFiles.children(fs, root.getParent).filter(_.isDirectory).map(_.getPath)
        .filterNot(p => DirectoryListing.isHidden(p.getName))
      val hint = NearestName.hint(root.getName, siblings.map(_.getName))
      refuse("ZORDER_TABLE_NOT_FOUND.PATH", "path" -> root, "hint" -> hint)
    } else if (!fs.getFileStatus(root).isDirectory)
      refuse("ZORDER_DIRECTORY_REFUSED.NOT_A_DIRECTORY", "path" -> root, "dir" -> root.getParent)
}

/** What a statement does with its table. It decides which rights are needed and whether to recover first. */
sealed private[table] trait Access

private[table] object Access {

  /** History, stored layouts, advice, forecasts and copies: read rights are enough, and nothing is changed. */
  case object Read extends Access

  /** Runs in place, vacuum, rollback and removal. */
  case object Change extends Access
}

/** The format of a table, found without any class of that format. */
object Provider {
  private val Delta = FormatDescriptor.Delta

  /** Whether the table is a Delta table. One that cannot be looked up is not. */
  def isDelta(session: SparkSession, table: TableRef): Boolean =
    try table match {
        case TableRef.Location(path, _) => deltaAt(session, path)
        case TableRef.Name(parts) => of(session, parts).exists(Delta.isProvider)
      }
    catch {
      case NonFatal(_) => false
    }

  /** The provider of the table according to its catalog, in lower case; None if the catalog cannot load it. */
  def of(session: SparkSession, parts: Seq[String]): Option[String] =
    try load(session, parts).flatMap(t => Option(t.properties.get(TableCatalog.PROP_PROVIDER)))
        .map(_.toLowerCase(Locale.ROOT))
    catch {
      case NonFatal(_) => None
    }

  /**
   * The table from its catalog; None if the catalog has no tables. As in Spark, a name without a namespace after that of
   * a catalog is one of the empty namespace, and not of the current one.
   */
  def load(session: SparkSession, parts: Seq[String]): Option[Table] = {
    val (catalog, path) = catalogOf(session, parts)
    val named = path.size < parts.size
    // Spark's own catalog has no table without a namespace
    val isWhole = path.size > 1 || named && !CatalogV2Util.isSessionCatalog(catalog)
    val namespace =
      if (isWhole) path.init.toArray
      else Shims.classic(session).sessionState.catalogManager.currentNamespace
    catalog match {
      case tables: TableCatalog => Some(tables.loadTable(Identifier.of(namespace, path.last)))
      case _ => None
    }
  }

  /** The catalog in which a name is looked up, and the rest of the name. */
  private[table] def catalogOf(session: SparkSession, parts: Seq[String]): (CatalogPlugin, Seq[String]) = {
    val catalogs = Shims.classic(session).sessionState.catalogManager
    if (parts.size > 1 && catalogs.isCatalogRegistered(parts.head)) (catalogs.catalog(parts.head), parts.tail)
    else (catalogs.currentCatalog, parts)
  }

  private def deltaAt(session: SparkSession, path: String): Boolean = {
    val root = new Path(path)
    Delta.isTable(root.getFileSystem(Shims.classic(session).sessionState.newHadoopConf()), root)
  }
}

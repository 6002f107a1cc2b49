package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.catalyst.util.CaseInsensitiveMap
import org.apache.spark.sql.zorder.conf.{NearestName, OptionSetting, RunOptions, ZOrderOption}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.{FormatDescriptor, TableRef}
import org.apache.spark.sql.zorder.table.parquet.{
  CatalogParquetTable,
  ParquetTable,
  PartitionedParquetTable,
  PathParquetTable
}
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CatalogCommit,
  CatalogEntry,
  CatalogRecovery,
  ExchangeMark,
  PathRecovery,
  RenamedTable
}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, LocalRefusals}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  TableIdentity
}
import org.apache.spark.sql.zorder.table.storage.AtomicRenames

/** Finds or opens a table of Spark's own catalog. */
private[table] object CatalogResolver {

  private val pathFormats =
    FormatDescriptor.all.map(_.id).toSet ++ Seq("orc", "csv", "json", "text", "avro", "binaryfile")

  /** Options of a table by which Spark reads other files than those of its directory, or other values. */
  private val readOptions = Seq(
    "pathGlobFilter",
    "modifiedBefore",
    "modifiedAfter",
    "recursiveFileLookup",
    "ignoredPathSegmentRegex",
    "basePath",
    "datetimeRebaseMode",
    "int96RebaseMode")

  /**
   * @param options
   *   of the statement; `location` decides which way a commit takes
   */
  def find(
      session: ClassicSession,
      parts: Seq[String],
      access: Access,
      options: Seq[OptionSetting]): ParquetTable = TableRef.Name(parts) match {
    case TableRef.InFormat(format, path) if format.equalsIgnoreCase("parquet") =>
      TableResolver.byPath(session, path, access)
    case TableRef.InFormat(format, path) if pathFormats(format.toLowerCase(Locale.ROOT)) =>
      FormatRefusals.provider(s"$format.`$path`", TableRef.Name(parts).sql, format)
    case _ => byName(session, parts, access, options)
  }

  private def byName(
      session: ClassicSession,
      parts: Seq[String],
      access: Access,
      options: Seq[OptionSetting]): ParquetTable = {
    val name = parts.mkString(".")
    val catalog = session.sessionState.catalog
    val ident = CatalogName.identifier(session, parts)
    val database = ident.database.get
    if (!catalog.databaseExists(database)) {
      val hint = NearestName.hint(database, catalog.listDatabases())
      refuse("ZORDER_TABLE_NOT_FOUND.DATABASE", "database" -> database, "table" -> name, "hint" -> hint)
    }
    if (!catalog.tableExists(ident)) {
      def known = catalog.listTables(database, "*", includeLocalTempViews = false).map(_.table)
      val hint = if (ident.table.contains("/")) " A path stands in quotes, as '/data/t'."
      else NearestName.hint(ident.table, known)
      refuse("ZORDER_TABLE_NOT_FOUND.TABLE", "table" -> name, "hint" -> hint)
    }
    val meta = catalog.getTableMetadata(ident)
    checkKind(session, name, meta)
    checkPlan(session, name, ident)
    at(session, name, meta, access, options)
  }

  private def checkKind(session: ClassicSession, name: String, meta: CatalogTable): Unit = {
    if (meta.tableType == CatalogTableType.VIEW) refuse("ZORDER_TABLE_REFUSED.VIEW", "table" -> name)
    meta.provider.map(_.toLowerCase(Locale.ROOT)).getOrElse("hive") match {
      case "parquet" | "org.apache.spark.sql.parquet" =>
      case "hive" => FormatRefusals.hive(session, name, meta)
      case other => FormatRefusals.provider(name, CatalogEntry.sql(name, meta.identifier), other)
    }
    if (meta.bucketSpec.isDefined) refuse("ZORDER_TABLE_REFUSED.BUCKETED", "table" -> name)
    val set = CaseInsensitiveMap(meta.storage.properties)
    readOptions.find(set.contains).foreach { option =>
      refuse("ZORDER_TABLE_REFUSED.READ_OPTION", "table" -> name, "option" -> option, "value" -> set(option))
    }
  }

  private def checkPlan(session: ClassicSession, name: String, ident: TableIdentifier): Unit =
    FormatRefusals.plan(name, session.table(CatalogEntry.sql(ident)).queryExecution.analyzed)

  private def at(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      access: Access,
      options: Seq[OptionSetting]): ParquetTable = {
    val asked = new Path(meta.location)
    val fs = asked.getFileSystem(session.sessionState.newHadoopConf())
    val root = fs.makeQualified(asked)
    PathRefusals.top(root)
    val managed = meta.tableType == CatalogTableType.MANAGED
    val identity = if (managed) TableIdentity.of(meta) else ""
    val way = CommitWay.of(session, meta, fs, options)
    if (access == Access.Change) {
      PathRefusals.named(root)
      LocalRefusals.link(root, Some(CatalogEntry.sql(name, meta.identifier)))
      val renames = AtomicRenames.on(session, fs)
      if (!renames && way == CommitWay.Exchange) refuseOnObjectStore(name, meta)
      if (managed && renames)
        RenamedTable.adopt(fs, root, identity, meta.properties.get(ExchangeMark.Property))
    }
    val beside = JournalStore.beside(fs, root)
    val journals = if (access == Access.Change) beside.all() else Nil
    // also for a table that moves now: an earlier run may have exchanged its directories, and died
    if (access == Access.Change)
      PathRecovery.recover(beside, journals, ExchangeMark.of(session, Some(meta)), identity = identity)
    // a table that has moved takes the way Move, so a catalog journal found here has changed nothing, and is
    // withdrawn
    if (way == CommitWay.Exchange && journals.exists(j =>
        j.kind == JournalKind.Catalog && j.state != JournalState.Done))
      CatalogRecovery.recover(new CatalogEntry(session, name, meta.identifier, fs), journals)
    val table = way match {
      case CommitWay.Exchange => exchanged(session, name, meta, fs, root, identity, access)
      case CommitWay.Move(agreed) =>
        val entry = new CatalogEntry(session, name, meta.identifier, fs)
        val read = if (access == Access.Change) recovered(entry, beside, journals) else None
        // the recovery has finished a way home that died
        if (PathText.of(entry.root) != PathText.of(root)) at(session, name, entry.meta, access, options)
        else moved(entry, identity, access, agreed, read)
    }
    // a statement that only reads does no harm to the other table
    if (access == Access.Change) OverlapRefusals.onlyOneAt(session, table.root, Some(meta.identifier))
    table
  }

  /**
   * Finishes or undoes what commits to the catalog have left.
   *
   * @param journals
   *   what is `beside` the table
   * @return
   *   all journals of the table, if none was unfinished
   */
  private def recovered(
      entry: CatalogEntry,
      beside: JournalStore,
      journals: Seq[Journal]): Option[Seq[Journal]] = {
    // one reading for both recoveries, unless journals are elsewhere or the first one had work to do
    val asRead = entry.store == beside && !journals.exists(PathRecovery.isUnfinished)
    val all = if (asRead) journals else entry.store.all()
    CatalogRecovery.recover(entry, all)
    entry.reload()
    Some(all).filter(_.forall(_.state == JournalState.Done))
  }

  /**
   * New data gets a location of its own, and the catalog gets that location.
   *
   * @param journals
   *   all of the table, if none of them was unfinished
   */
  private def moved(
      entry: CatalogEntry,
      identity: String,
      access: Access,
      agreed: Boolean,
      journals: Option[Seq[Journal]]): ParquetTable = {
    import entry.{fs, name}
    // old files of a managed table's partitions do not stay, on an object store either
    val goes = entry.isManaged || AtomicRenames.on(entry.session, fs)
    def whole[A](listing: => A): A =
      TableResolver.listed(entry.session, access, entry.store, name, identity, goes)(listing)
    val tree = if (entry.partitioned) None else Some(whole(DirectoryListing.walk(fs, entry.root)))
    if (tree.exists(_.isEmpty) && !fs.exists(entry.root)) gone(name, entry.root)
    PathRefusals.foreign(fs, entry.root, tree)
    tree.foreach(PathRefusals.shape(entry.root, _))
    tree.foreach(undeclared(name, _))
    val table = new CatalogParquetTable(entry, agreed, tree, journals, whole(entry.files()))
    if (entry.partitioned) FormatRefusals.partitions(name, table.liveDirs())
    if (access == Access.Change) movable(fs, table)
    table
  }

  /**
   * Spark makes columns of directories though the catalog names no partition columns. Files that move leave them
   * behind.
   */
  private def undeclared(name: String, tree: DirectoryListing): Unit =
    tree.data.find(_.parent.nonEmpty).foreach { f =>
      refuse(
        "ZORDER_TABLE_REFUSED.PARTITIONS_NOT_DECLARED",
        "table" -> name,
        "dir" -> f.parent,
        "columns" -> f.parent.split('/').map(_.takeWhile(_ != '=')).mkString(", "))
    }

  /** What keeps directories from being moved. */
  private def movable(fs: FileSystem, table: CatalogParquetTable): Unit = {
    if (!table.isManaged) LocalRefusals.mount(table.root)
    if (table.partitioned) {
      val dirs = table.liveDirs().values
      LocalRefusals.partitionLinks(dirs)
      LocalRefusals.mountBelow(fs, table.root, dirs)
    }
    if (AtomicRenames.on(table.session, fs)) {
      PathRefusals.writable(fs, table.root.getParent, table.root)
      if (table.isManaged && fs.exists(table.root)) PathRefusals.writable(fs, table.root, table.root)
    }
  }

  private def gone(name: String, root: Path): Nothing =
    refuse("ZORDER_TABLE_NOT_FOUND.DIRECTORY_GONE", "table" -> name, "dir" -> root)

  /** The location stays and directories are exchanged, as those of a path are. */
  private def exchanged(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      fs: FileSystem,
      root: Path,
      identity: String,
      access: Access): ParquetTable = {
    val goes = AtomicRenames.on(session, fs)
    def whole[A](listing: => A): A =
      TableResolver.listed(session, access, JournalStore.beside(fs, root), name, identity, goes)(listing)
    if (CommitWay.hasListedPartitions(session, meta) || meta.partitionColumnNames.isEmpty) {
      val tree = whole {
        if (!fs.exists(root)) gone(name, root)
        TableResolver.checked(fs, root, access)
      }
      new PathParquetTable(session, name, fs, root, tree, meta.properties, Some(meta), named = true)
    } else {
      val entry = new CatalogEntry(session, name, meta.identifier, fs)
      val dirs = entry.liveDirs()
      FormatRefusals.partitions(name, dirs)
      PathRefusals.foreign(fs, root, None)
      if (access == Access.Change && fs.exists(root)) {
        LocalRefusals.mount(root)
        PathRefusals.mount(fs, root)
        LocalRefusals.partitionLinks(dirs.values)
        PathRefusals.exchangeable(fs, root, dirs.values.toSeq)
        PathRefusals.writable(fs, root.getParent, root)
        PathRefusals.writable(fs, root, root)
      }
      new PartitionedParquetTable(entry, whole(entry.files()))
    }
  }

  private[table] def refuseOnObjectStore(name: String, meta: CatalogTable): Nothing =
    if (meta.partitionColumnNames.isEmpty)
      refuse("ZORDER_TABLE_REFUSED.MANAGED_ON_OBJECT_STORE", "table" -> name)
    else
      refuse(
        "ZORDER_TABLE_REFUSED.PARTITIONS_NOT_IN_CATALOG",
        "table" -> name,
        "sql" -> CatalogEntry.sql(name, meta.identifier))
}

/** How a commit puts new data in place of old data in a table of the catalog (docs/spec.md, section 5). */
sealed private trait CommitWay

private object CommitWay {

  /** Directories are exchanged in place, so that the table's name and its path agree. */
  case object Exchange extends CommitWay

  /**
   * The catalog gets new locations.
   *
   * @param agreed
   *   whether the user has said so
   */
  final case class Move(agreed: Boolean) extends CommitWay

  /**
   * By the file system, not by the kind of table: files stay where directories can be renamed, unless the user wants
   * them to move or an earlier version has moved them. A managed table without partitions keeps its place, which DROP
   * and CREATE take for their own, and partitions that Spark finds by listing have no other.
   */
  def of(
      session: ClassicSession,
      meta: CatalogTable,
      fs: FileSystem,
      options: Seq[OptionSetting]): CommitWay = {
    val moved = meta.properties.contains(CatalogCommit.BaseProperty)
    val stays = options.find(_.option == ZOrderOption.Location).exists(_.in(RunOptions()).location == "keep")
    if (moved && stays)
      refuse("ZORDER_INVALID_OPTION.LOCATION_KEEP", "table" -> meta.identifier.unquotedString)
    val fixed = hasListedPartitions(session, meta) ||
      meta.tableType == CatalogTableType.MANAGED && meta.partitionColumnNames.isEmpty
    val agreed = moved ||
      RunOptions.location(options, meta.properties, session.conf.getAll) == "move"
    if (fixed || !agreed && AtomicRenames.on(session, fs)) Exchange else Move(agreed)
  }

  def hasListedPartitions(session: ClassicSession, meta: CatalogTable): Boolean =
    meta.partitionColumnNames.nonEmpty &&
      !(meta.tracksPartitionsInCatalog && session.sessionState.conf.manageFilesourcePartitions)
}

/** The parts of a name, resolved to a table of Spark's own catalog. */
private object CatalogName {
  private val SessionCatalog = "spark_catalog"

  def identifier(session: ClassicSession, parts: Seq[String]): TableIdentifier = {
    val manager = session.sessionState.catalogManager
    val name = parts.mkString(".")
    def other(catalog: String): Nothing =
      refuse("ZORDER_TABLE_NOT_FOUND.OTHER_CATALOG", "table" -> name, "catalog" -> catalog)
    val current = manager.currentCatalog.name
    val local =
      if (parts.head.equalsIgnoreCase(SessionCatalog) && parts.size > 1) parts.tail
      // as in Spark, a catalog goes before a database of its name
      else if (parts.size > 1 && session.sessionState.conf.contains(s"spark.sql.catalog.${parts.head}"))
        other(parts.head)
      else if (!current.equalsIgnoreCase(SessionCatalog)) other(current)
      else parts
    local match {
      case Seq(table) => TableIdentifier(table, Some(session.sessionState.catalog.getCurrentDatabase))
      case Seq(db, table) => TableIdentifier(table, Some(db))
      case catalog +: _ if parts.length > 2 && !manager.isCatalogRegistered(catalog) =>
        refuse("ZORDER_SESSION_REFUSED.CATALOG_NOT_CONFIGURED", "catalog" -> catalog, "table" -> name)
      case _ => refuse("ZORDER_TABLE_NOT_FOUND.INVALID_NAME", "table" -> name)
    }
  }
}

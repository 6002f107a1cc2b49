package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.zorder.conf.NearestName
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.FormatDescriptor
import org.apache.spark.sql.zorder.table.parquet.{CatalogParquetTable, ParquetTable, PathParquetTable}
import org.apache.spark.sql.zorder.table.parquet.commit.{CatalogRecovery, PathRecovery}
import org.apache.spark.sql.zorder.table.parquet.files.DirectoryListing
import org.apache.spark.sql.zorder.table.parquet.journal.{
  JournalStore,
  RenamedTable,
  TableIdentity,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.storage.ObjectStores

/** Finds or opens a table of Spark's own catalog. */
private[table] object CatalogResolver {

  private val pathFormats =
    FormatDescriptor.all.map(_.id).toSet ++ Seq("orc", "csv", "json", "text", "avro", "binaryfile")

  def find(session: ClassicSession, parts: Seq[String], access: Access): ParquetTable = parts match {
    case Seq(format, path) if path.contains("/") && format.equalsIgnoreCase("parquet") =>
      TableResolver.byPath(session, path, access)
    case Seq(format, path) if path.contains("/") && pathFormats(format.toLowerCase(Locale.ROOT)) =>
      FormatRefusals.provider(s"$format.`$path`", format)
    case _ => byName(session, parts, access)
  }

  private def byName(session: ClassicSession, parts: Seq[String], access: Access): ParquetTable = {
    val name = parts.mkString(".")
    val catalog = session.sessionState.catalog
    if (catalog.isTempView(parts))
      refuse(s"$name is a temporary view; name the table that it reads.")
    val ident = CatalogName.identifier(session, parts)
    if (!catalog.databaseExists(ident.database.get)) {
      val hint = NearestName.hint(ident.database.get, catalog.listDatabases())
      refuse(s"There is no database ${ident.database.get}, so no table $name.$hint")
    }
    if (!catalog.tableExists(ident)) {
      val known = catalog.listTables(ident.database.get).map(_.table)
      refuse(s"There is no table $name.${NearestName.hint(ident.table, known)}")
    }
    val meta = catalog.getTableMetadata(ident)
    checkKind(session, name, meta)
    checkPlan(session, name, ident)
    at(session, name, meta, access)
  }

  private def checkKind(session: ClassicSession, name: String, meta: CatalogTable): Unit = {
    if (meta.tableType == CatalogTableType.VIEW) refuse(s"$name is a view; name the table that it reads.")
    meta.provider.map(_.toLowerCase(Locale.ROOT)).getOrElse("hive") match {
      case "parquet" | "org.apache.spark.sql.parquet" =>
      case "hive" => FormatRefusals.hive(session, name, meta)
      case other => FormatRefusals.provider(name, other)
    }
    if (meta.bucketSpec.isDefined)
      refuse(s"$name is bucketed, and a clustered rewrite would break its buckets; " +
        "recreate it without CLUSTERED BY ... INTO n BUCKETS (CREATE TABLE ... AS SELECT), and cluster that.")
  }

  private def checkPlan(session: ClassicSession, name: String, ident: TableIdentifier): Unit =
    FormatRefusals.plan(name, session.table(ident.quotedString).queryExecution.analyzed)

  private def at(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      access: Access): ParquetTable = {
    val asked = new Path(meta.location)
    val fs = asked.getFileSystem(session.sessionState.newHadoopConf())
    val root = fs.makeQualified(asked)
    PathRefusals.top(root)
    val managed = meta.tableType == CatalogTableType.MANAGED
    val identity = if (managed) TableIdentity.of(meta) else ""
    val flat = meta.partitionColumnNames.isEmpty
    val tracked = meta.tracksPartitionsInCatalog && session.sessionState.conf.manageFilesourcePartitions
    val exchanges = if (flat) managed else !tracked
    if (access == Access.Change) {
      PathRefusals.named(root)
      LocalRefusals.link(root, Some(name))
      val onStore = ObjectStores.isOne(fs.getUri.getScheme)
      if (onStore && exchanges) refuse(onObjectStore(name, meta))
      if (managed && !onStore) RenamedTable.adopt(fs, root, identity)
      PathRecovery.recover(fs, root, identity = identity)
    }
    val table =
      if (exchanges) exchanged(session, name, meta, fs, root, identity, access)
      else relocated(session, name, meta, fs, identity, access)
    OverlapRefusals.refuse(session, table.root, Some(meta.identifier))
    table
  }

  /** New data gets a location of its own, and the catalog gets that location. */
  private def relocated(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      fs: FileSystem,
      identity: String,
      access: Access): ParquetTable = {
    val table = new CatalogParquetTable(session, name, meta.identifier, fs)
    val changes = access == Access.Change
    if (changes) CatalogRecovery.recover(table.entry)
    else UnfinishedCommits.refuseDuringExchange(name, table.store, identity)
    val flat = meta.partitionColumnNames.isEmpty
    if (flat && !fs.exists(table.root)) gone(name, table.root)
    PathRefusals.foreign(fs, table.root)
    if (flat) PathRefusals.shape(table.root, DirectoryListing.walk(fs, table.root))
    else FormatRefusals.partitions(name, table.liveDirs())
    if (changes) exchangeable(fs, table)
    table
  }

  /** What keeps directories from being exchanged. */
  private def exchangeable(fs: FileSystem, table: CatalogParquetTable): Unit = {
    if (!table.isManaged) LocalRefusals.mount(table.root)
    if (table.partitioned) {
      val dirs = table.liveDirs().values
      LocalRefusals.partitionLinks(dirs)
      LocalRefusals.mountBelow(fs, table.root, dirs)
    }
    if (!ObjectStores.isOne(fs.getUri.getScheme)) {
      PathRefusals.writable(fs, table.root.getParent, table.root)
      if (table.isManaged && fs.exists(table.root)) PathRefusals.writable(fs, table.root, table.root)
    }
  }

  private def gone(name: String, root: Path): Nothing =
    refuse(s"The directory of $name, $root, is gone; restore it, or drop the table.")

  /**
   * The location stays and directories are exchanged, as those of a path are. This is for a managed table without
   * partitions, because DROP and CREATE take its location for their own, where old files must not stay; and for a
   * table whose partitions Spark finds by listing.
   */
  private def exchanged(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      fs: FileSystem,
      root: Path,
      identity: String,
      access: Access): ParquetTable = {
    if (access == Access.Read)
      UnfinishedCommits.refuseDuringExchange(name, JournalStore.beside(fs, root), identity)
    if (!fs.exists(root)) gone(name, root)
    val tree = TableResolver.checked(fs, root, access)
    new PathParquetTable(session, name, fs, root, tree, meta.properties, Some(meta), named = true)
  }

  private[table] def onObjectStore(name: String, meta: CatalogTable): String =
    if (meta.partitionColumnNames.isEmpty)
      s"$name is a managed table on an object store, where its directory cannot be exchanged in one step; " +
        "write a copy with INTO 'path', or keep the data in an EXTERNAL table."
    else
      s"The partitions of $name are not in the catalog and it is on an object store; " +
        s"run MSCK REPAIR TABLE $name first (with spark.sql.hive.manageFilesourcePartitions)."
}

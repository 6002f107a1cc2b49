package org.apache.spark.sql.zorder.table.resolve

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.zorder.conf.Nearest
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.parquet.{
  CatalogParquetTable,
  CatalogRecovery,
  ParquetTable,
  PathParquetTable
}
import org.apache.spark.sql.zorder.table.parquet.commit.PathRecovery
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

  private val sessionCatalog = "spark_catalog"
  private val pathFormats =
    Set("delta", "iceberg", "hudi", "orc", "csv", "json", "text", "avro", "binaryfile")

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
    val ident = identifier(session, parts)
    if (!catalog.databaseExists(ident.database.get)) {
      val hint = Nearest.hint(ident.database.get, catalog.listDatabases())
      refuse(s"There is no database ${ident.database.get}, so no table $name.$hint")
    }
    if (!catalog.tableExists(ident)) {
      val known = catalog.listTables(ident.database.get).map(_.table)
      refuse(s"There is no table $name.${Nearest.hint(ident.table, known)}")
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
    val changes = access == Access.Change
    val asked = new Path(meta.location)
    val fs = asked.getFileSystem(session.sessionState.newHadoopConf())
    val root = fs.makeQualified(asked)
    PathRefusals.top(root)
    if (changes) {
      PathRefusals.named(root)
      LocalRefusals.link(root, Some(name))
    }
    val managed = meta.tableType == CatalogTableType.MANAGED
    val flat = meta.partitionColumnNames.isEmpty
    val tracked = meta.tracksPartitionsInCatalog && session.sessionState.conf.manageFilesourcePartitions
    if (changes && managed && !ObjectStores.isOne(fs.getUri.getScheme))
      RenamedTable.adopt(fs, root, TableIdentity.of(meta))
    if (if (flat) managed else !tracked) exchanged(session, name, meta, fs, root, access)
    else relocated(session, name, meta, fs, root, access)
  }

  /** New data gets a location of its own, which the catalog is told. */
  private def relocated(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      fs: FileSystem,
      root: Path,
      access: Access): ParquetTable = {
    val identity = if (meta.tableType == CatalogTableType.MANAGED) TableIdentity.of(meta) else ""
    val changes = access == Access.Change
    if (changes) PathRecovery.recover(fs, root, identity = identity)
    val table = new CatalogParquetTable(session, name, meta.identifier, fs)
    if (changes) CatalogRecovery.recover(table) else UnfinishedCommits.refuseAway(name, table.store, identity)
    if (!fs.exists(table.root) && meta.partitionColumnNames.isEmpty) gone(name, table.root)
    PathRefusals.foreign(fs, table.root)
    if (meta.partitionColumnNames.isEmpty)
      PathRefusals.shape(table.root, DirectoryListing.walk(fs, table.root))
    else FormatRefusals.partitions(name, table.liveDirs())
    if (changes) exchangeable(fs, table)
    refuseOverlap(session, table.root, Some(meta.identifier))
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
   * The location stays and directories are exchanged, as those of a path are: of a managed table without
   * partitions, whose old files must not stay at the place that DROP and CREATE take for its own, and of a table
   * whose partitions Spark finds by listing.
   */
  private def exchanged(
      session: ClassicSession,
      name: String,
      meta: CatalogTable,
      fs: FileSystem,
      root: Path,
      access: Access): ParquetTable = {
    val managed = meta.tableType == CatalogTableType.MANAGED
    val changes = access == Access.Change
    if (changes && ObjectStores.isOne(fs.getUri.getScheme)) refuse(onObjectStore(name, meta))
    val identity = if (managed) TableIdentity.of(meta) else ""
    if (changes) PathRecovery.recover(fs, root, identity = identity)
    else UnfinishedCommits.refuseAway(name, JournalStore.beside(fs, root), identity)
    if (!fs.exists(root)) gone(name, root)
    val tree = TableResolver.checked(fs, root, identity, access)
    refuseOverlap(session, root, Some(meta.identifier))
    new PathParquetTable(session, name, fs, root, tree, meta.properties, Some(meta), named = true)
  }

  private[table] def onObjectStore(name: String, meta: CatalogTable): String =
    if (meta.partitionColumnNames.isEmpty)
      s"$name is a managed table on an object store, where its directory cannot be exchanged in one step; " +
        "write a copy with INTO 'path', or keep the data in an EXTERNAL table."
    else
      s"The partitions of $name are not in the catalog and it is on an object store; " +
        s"run MSCK REPAIR TABLE $name first (with spark.sql.hive.manageFilesourcePartitions)."

  private def identifier(session: ClassicSession, parts: Seq[String]): TableIdentifier = {
    val manager = session.sessionState.catalogManager
    def other(catalog: String): Nothing =
      refuse(s"${parts.mkString(".")} is in the catalog $catalog, not in Spark's own, and is no table of a " +
        "format that is rewritten there; check the name, and that the format's jar is on the class path.")
    val current = manager.currentCatalog.name
    val local =
      if (parts.head.equalsIgnoreCase(sessionCatalog) && parts.size > 1) parts.tail
      else if (parts.size > 1 && !session.sessionState.catalog.databaseExists(parts.head) &&
        session.sessionState.conf.contains(s"spark.sql.catalog.${parts.head}")) other(parts.head)
      else if (!current.equalsIgnoreCase(sessionCatalog)) other(current)
      else parts
    local match {
      case Seq(table) => TableIdentifier(table, Some(session.sessionState.catalog.getCurrentDatabase))
      case Seq(db, table) => TableIdentifier(table, Some(db))
      case catalog +: _ if parts.length > 2 && !manager.isCatalogRegistered(catalog) =>
        refuse(s"The catalog $catalog of ${parts.mkString(".")} is not configured in this session; set " +
          s"spark.sql.catalog.$catalog to its class, and its options beside it, or give database.table.")
      case _ => refuse(s"${parts.mkString(".")} is not the name of a table; give database.table.")
    }
  }

  /**
   * No other table of the database may lie inside, around, or (for a table) at the same place.
   *
   * @return
   *   the table that lies at a path, as far as the catalog tells
   */
  def refuseOverlap(
      session: ClassicSession,
      root: Path,
      self: Option[TableIdentifier]): Option[CatalogTable] = {
    val catalog = session.sessionState.catalog
    val databases = (self.flatMap(_.database).toSeq :+ catalog.getCurrentDatabase).distinct
    val others =
      try {
        databases.flatMap { db =>
          catalog.getTablesByName(catalog.listTables(db).filter(_.database.isDefined))
        }
      } catch { case NonFatal(_) => Nil } // a catalog that cannot tell forbids nothing
    val mine = path(root)
    val places = for {
      t <- others
      if t.tableType != CatalogTableType.VIEW && !self.exists(same(_, t.identifier))
      at <- t.storage.locationUri.map(uri => path(new Path(uri)))
    } yield t -> at
    places.foreach { case (t, at) =>
      val name = t.identifier.unquotedString
      if (at.startsWith(s"$mine/"))
        refuse(s"The table $name lies inside $root; a rewrite would take its files along: name $name itself.")
      if (mine.startsWith(s"$at/"))
        refuse(s"$root lies inside the table $name; name $name, and pick its part by WHERE.")
      if (at == mine && self.isDefined)
        refuse(s"The tables ${self.get.unquotedString} and $name share the directory $root; " +
          "drop one of them.")
    }
    places.collectFirst { case (t, at) if at == mine => t }
  }

  private def same(a: TableIdentifier, b: TableIdentifier): Boolean =
    a.table.equalsIgnoreCase(
      b.table) && a.database.map(_.toLowerCase(Locale.ROOT)) == b.database.map(_.toLowerCase(Locale.ROOT))

  private def path(p: Path): String = p.toUri.getPath.stripSuffix("/")
}

package org.apache.spark.sql.zorder.table.parquet.commit

import java.net.URI

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogTable,
  CatalogTablePartition,
  CatalogTableType,
  SessionCatalog
}
import org.apache.spark.sql.connector.catalog.CatalogManager
import org.apache.spark.sql.execution.datasources.PartitioningUtils
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CatalogProperties, StateDir, TableRef}
import org.apache.spark.sql.zorder.table.file.{DataFile, PathText}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, HiddenDirectories}
import org.apache.spark.sql.zorder.table.parquet.journal.{JournalStore, TableIdentity}
import org.apache.spark.sql.zorder.table.parquet.read.PathContent
import org.apache.spark.sql.zorder.table.storage.DriverReads

/** A Parquet table as Spark's catalog has it: its location, its partitions, its properties. */
private[zorder] final class CatalogEntry(
    val session: ClassicSession,
    val name: String,
    val ident: TableIdentifier,
    val fs: FileSystem) {

  val catalog: SessionCatalog = session.sessionState.catalog
  private var read: CatalogTable = catalog.getTableMetadata(ident)

  /** The catalog's entry when the table was opened, or after our own last commit. */
  def meta: CatalogTable = read
  def reload(): Unit = read = catalog.getTableMetadata(ident)

  /** The table as the catalog has it now, beside this one. */
  def again: CatalogEntry = new CatalogEntry(session, name, ident, fs)

  /**
   * Before the first run over a managed table with partitions: queries look for what comes, since its old files do not
   * stay where they are.
   */
  def announce(txn: String): Unit = if (isManaged && partitioned && !hasMoved) {
    ExchangeMark.of(session, Some(meta)).announce(txn)
    reload()
  }

  def changeProperties(wanted: Map[String, String] => Map[String, String]): Unit =
    CatalogProperties.change(catalog, ident)(wanted)

  /** The session forgets where the table's files were. */
  def refresh(): Unit = session.catalog.refreshTable(CatalogEntry.sql(ident))

  def root: Path = fs.makeQualified(new Path(meta.location))
  def store: JournalStore = new JournalStore(fs, root.getParent, base)
  def state: StateDir = new StateDir(fs, root)

  /** The table as a statement can write it. */
  def sql: String = CatalogEntry.sql(name, ident)

  /** What journals call this table. */
  def identity: String = TableIdentity.of(meta)

  def partitioned: Boolean = meta.partitionColumnNames.nonEmpty
  def external: Boolean = meta.tableType == CatalogTableType.EXTERNAL

  /** We may arrange its directories as we like, and DROP deletes everything in them. */
  def isManaged: Boolean = meta.tableType == CatalogTableType.MANAGED

  /**
   * The directory's name before the first run. The names of an external table's later directories end with it.
   */
  def base: String =
    if (isManaged) root.getName else meta.properties.getOrElse(CatalogCommit.BaseProperty, root.getName)

  /** Where a commit puts new directories: beside an external table's, hidden inside a managed one's. */
  def newDirectory(txn: String): Path =
    if (isManaged) HiddenDirectories.fresh(root, txn) else store.fresh(txn)

  /** The directory of a run that `dir` lies in, if it does. */
  def topOf(dir: Path): Option[Path] = store.topOf(root, dir)

  /** Whether a commit of ours may have moved files of the table. */
  def hasMoved: Boolean = meta.properties.contains(CatalogCommit.TxnProperty)

  /**
   * Where partitions were whose files are elsewhere now, in a directory of ours. Nothing is read if there are
   * none.
   */
  def firstPlaces(live: Map[String, Path]): Map[String, Path] = {
    val away = live.filter { case (_, dir) => topOf(dir).isDefined }
    if (away.isEmpty) Map.empty
    else homes(away).filter { case (partition, home) => PathText.of(home) != PathText.of(away(partition)) }
  }

  /** Where the data of each partition was before the first run over it. */
  def homes(): Map[String, Path] = homes(liveDirs())

  private def homes(live: Map[String, Path]): Map[String, Path] = {
    val recorded = state.homes()
    val top = if (isManaged || partitioned) root else new Path(root.getParent, base)
    live.map { case (partition, dir) =>
      // a partition that is in no directory of ours is where its owner has put it, perhaps since a run
      def home = recorded.get(partition).map(uri => fs.makeQualified(new Path(new URI(uri))))
      partition -> (if (topOf(dir).isEmpty) dir else home.getOrElse(SwapPlan.below(top, partition)))
    }
  }

  /** The partitions by their directories, with the catalog's values as Spark spells them. */
  def partitions(): Map[String, CatalogTablePartition] = listed().toMap

  /** Two of them may have one value, spelled in two ways: those have the same directory. */
  private def listed(): Seq[(String, CatalogTablePartition)] = catalog.listPartitions(ident).map { p =>
    PartitioningUtils.getPathFragment(p.spec, meta.partitionSchema) -> HiveStatistics.without(p)
  }

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path] = places().toMap

  private def places(): Seq[(String, Path)] =
    if (!partitioned) Seq("" -> root)
    else listed().map { case (fragment, p) => fragment -> fs.makeQualified(new Path(p.location)) }

  /** The data files of all partitions: those that Spark reads, directly in a partition's directory. */
  def files(): Seq[DataFile] = DriverReads.each(places(), DriverReads.MostRequests) { case (partition, dir) =>
    val tree = DirectoryListing.walk(fs, dir)
    tree.copy(files = tree.files.filter(f => !partitioned || !f.rel.contains('/'))).dataFiles(_ => partition)
  }.flatten.sortBy(_.path)

  /** Refuses two partitions of one value: a run would write the rows of both into one directory. */
  def checkSpelling(): Unit = {
    def spelled(p: CatalogTablePartition) =
      meta.partitionColumnNames.map(c => s"$c=${p.spec(c)}").mkString("/")
    if (partitioned)
      PathContent.byValues(root, catalog.listPartitions(ident).map(p => written(p) -> spelled(p)))
    ()
  }

  /** The catalog's partition directories by the directories that a write of the typed values makes. */
  def dirByName(): Map[String, String] =
    if (!partitioned) Map.empty
    else PathContent.byValues(root, partitions().toSeq.map { case (fragment, p) => written(p) -> fragment })

  /** The directories that a write of the partition's typed values makes. */
  private def written(p: CatalogTablePartition): String = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    PathContent.canonical(session, meta.partitionSchema, p.toRow(meta.partitionSchema, zone))
  }
}

private[zorder] object CatalogEntry {

  /** The name of a table as SQL; without the catalog, its database might be taken for another catalog. */
  def sql(ident: TableIdentifier): String =
    ident.copy(catalog = Some(CatalogManager.SESSION_CATALOG_NAME)).quotedString

  /** The name of a table for a user, who reads it as he gave it where that needs no quotes. */
  def sql(name: String, ident: TableIdentifier): String =
    if (TableRef.Name(name.split('.').toSeq).sql == name) name else sql(ident)
}

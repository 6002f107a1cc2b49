package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, Operation, RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CatalogEntry,
  CommitWait,
  ExchangeMark,
  PathCommit,
  PathCompletion,
  PathRecovery,
  SwapPlan
}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FilePermissions}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit,
  TableIdentity
}
import org.apache.spark.sql.zorder.table.parquet.read.PathContent

/**
 * Parquet files under a directory of a local disk or of HDFS, where runs exchange directories in place.
 *
 * @param opened
 *   what lay there when the table was opened
 * @param registered
 *   the table of the catalog that lies there, if one is known; its location does not change
 * @param named
 *   whether it was opened by that table's name
 */
private[zorder] class PathParquetTable(
    override val session: ClassicSession,
    override val name: String,
    fs: FileSystem,
    override val root: Path,
    opened: => DirectoryListing,
    override val properties: Map[String, String] = Map.empty,
    registered: Option[CatalogTable] = None,
    named: Boolean = false)
    extends ParquetTable {

  val store: JournalStore = JournalStore.beside(fs, root)
  private val managedBy = registered.filter(_.tableType == CatalogTableType.MANAGED)
  private val mark = ExchangeMark.of(session, registered)
  override def kind: JournalKind = JournalKind.Path
  override private[parquet] def catalogName: Option[TableIdentifier] =
    registered.filter(_ => named).map(_.identifier)

  /** DROP deletes the data of a managed table: what lay there before was another table's. */
  override def identity: String = managedBy.map(TableIdentity.of).getOrElse("")
  override def owns(journal: Journal): Boolean =
    journal.kind == JournalKind.Path && !TableIdentity.differ(journal.table, identity) &&
      (journal.table.nonEmpty || managedBy.forall(_.createTime <= journal.changedMs))
  private lazy val firstListing = opened
  private var isListed = false
  private lazy val content = PathContent.read(session, root, firstListing)
  private val flat = registered.filter(t => named && t.partitionColumnNames.isEmpty)
  private var runs = state.nextNumber()

  override def schema: StructType =
    flat.map(_.schema).getOrElse(StructType(content.dataSchema ++ content.partitionSchema))
  override def declared: Option[StructType] = flat.map(_.dataSchema)
  override def partitionSchema: StructType = content.partitionSchema
  override def afterword: Option[String] = Some(ParquetTable.exchanged(root))

  /** The first time those of the opened table; later calls list them again. */
  override def files(): Seq[DataFile] = {
    val tree = if (isListed) DirectoryListing.walk(fs, root) else firstListing
    isListed = true
    tree.dataFiles(DirectoryListing.partitionOf)
  }

  override def state: StateDir = new StateDir(fs, root)

  override private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal = {
    mark.announce(txn)
    Journal.draft(txn, kind, operation, identity, runId, root, store.staging(txn))
  }

  override protected def copyPermissions(staging: Path): Unit = FilePermissions.copy(fs, root, staging)

  override def discard(journal: Journal): Unit = {
    Journal.end(journal.txn)
    store.get(journal.txn)
      .filter(j => j.state == JournalState.Staging || j.state == JournalState.Prepared)
      .foreach(new PathCompletion(store, mark).abandon)
    // a commit that got stuck is finished later, from these files
    if (store.get(journal.txn).isEmpty) fs.delete(journal.staging, true)
    ()
  }

  override def commit(journal: Journal, request: CommitRequest): Unit = {
    val actual = this.actual
    val units =
      try {
        checkBase()
        checkStaged(journal)
        SwapPlan.forPath(store, journal, request.inputs, actual, liveDirs())
      } catch { case e: Throwable => discard(journal); throw e }
    val record = SwapPlan.inPlace(request.record, actual)
    pathCommit.commit(journal.copy(units = units), record, request.layouts)
    runs = state.nextNumber()
  }

  private def pathCommit = new PathCommit(store, mark, CommitWait.of(session))

  override private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit =
    unit.copy(staged = unit.old, old = SwapPlan.below(store.retired(txn), unit.partition))

  override private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit = {
    pathCommit.commit(store.write(journal), record, Map.empty)
    ()
  }

  override private[parquet] def recoverCommits(stagingMs: Long): Unit =
    PathRecovery.recover(store, store.all(), mark, stagingMs)

  /** Of two runs that began with the same files, the second stops, as for a table whose location changes. */
  private def checkBase(): Unit =
    if (named && state.nextNumber() != runs)
      throw new ZOrderConflictException(
        s"Another run has changed $name since this one began; nothing was changed, run it again.")

  /** The table's partition directories by their spelling in a staging directory. */
  protected def actual: Map[String, String] = content.actual

  /** Where the data of each partition is now. */
  override def liveDirs(): Map[String, Path] =
    Map("" -> root) ++ content.actual.values.map(p => p -> (if (p.isEmpty) root else new Path(root, p)))
}

/**
 * The same for a table whose partitions are in the catalog: what the catalog does not name is no part of the table.
 *
 * @param entry
 *   the table in the catalog
 */
final private[zorder] class PartitionedParquetTable(entry: CatalogEntry)
    extends PathParquetTable(
      entry.session,
      entry.name,
      entry.fs,
      entry.root,
      DirectoryListing.walk(entry.fs, entry.root),
      entry.meta.properties,
      Some(entry.meta),
      named = true) {

  override def schema: StructType = entry.meta.schema
  override def declared: Option[StructType] = Some(entry.meta.dataSchema)
  override def partitionSchema: StructType = entry.meta.partitionSchema
  override protected def actual: Map[String, String] = entry.actual()
  override def liveDirs(): Map[String, Path] = entry.liveDirs()
  override def files(): Seq[DataFile] = entry.files()

  /** A partition with a place of its own cannot be exchanged beside the table's directory. */
  override def check(files: Seq[DataFile]): Unit = {
    val dirs = liveDirs()
    files.map(_.partition).distinct.sorted.find(p => !isHome(p, dirs(p))).foreach { p =>
      refuse(
        s"The partition $p of $name has a location of its own, ${dirs(p)}, and runs exchange the directories in " +
          s"$root: leave it out by WHERE, give it its place there (ALTER TABLE $name PARTITION ... SET LOCATION), " +
          "or say WITH (location = 'move'), which gives the partitions that it rewrites new locations.")
    }
  }

  /** Hive spells names of columns in lower case, and directories may have them otherwise. */
  private def isHome(partition: String, dir: Path): Boolean =
    SwapPlan.below(root, partition).toUri.getPath.equalsIgnoreCase(dir.toUri.getPath)
}

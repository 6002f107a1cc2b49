package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, Operation, RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CommitWait,
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
 * Parquet files under a directory of a local disk or of HDFS.
 *
 * @param opened
 *   what lay there when the table was opened
 * @param registered
 *   the table of the catalog that lies there, if one is known; its location does not change
 * @param named
 *   whether it was opened by that table's name
 */
private[zorder] final class PathParquetTable(
    override val session: ClassicSession,
    override val name: String,
    fs: FileSystem,
    override val root: Path,
    opened: DirectoryListing,
    override val properties: Map[String, String] = Map.empty,
    registered: Option[CatalogTable] = None,
    named: Boolean = false)
    extends ParquetTable {

  val store: JournalStore = JournalStore.beside(fs, root)
  private val managedBy = registered.filter(_.tableType == CatalogTableType.MANAGED)
  override def kind: JournalKind = JournalKind.Path
  override private[parquet] def catalogName: Option[TableIdentifier] =
    registered.filter(_ => named).map(_.identifier)

  /** DROP deletes the data of a managed table: what lay there before was another table's. */
  override def identity: String = managedBy.map(TableIdentity.of).getOrElse("")
  override def owns(journal: Journal): Boolean =
    journal.kind == JournalKind.Path && !TableIdentity.differ(journal.table, identity) &&
      (journal.table.nonEmpty || managedBy.forall(_.createTime <= journal.changedMs))
  private var listed: Option[DirectoryListing] = Some(opened)
  private lazy val content = PathContent.read(session, root, opened)
  private val flat = registered.filter(t => named && t.partitionColumnNames.isEmpty)
  private var runs = state.nextNumber()

  override def schema: StructType =
    flat.map(_.schema).getOrElse(StructType(content.dataSchema ++ content.partitionSchema))
  override def declared: Option[StructType] = flat.map(_.dataSchema)
  override def partitionSchema: StructType = content.partitionSchema
  override def afterword: Option[String] = Some(ParquetTable.Exchanged)

  /** The first time those of the opened table; later calls list them again. */
  override def files(): Seq[DataFile] = {
    val tree = listed.getOrElse(DirectoryListing.walk(fs, root))
    listed = None
    tree.dataFiles(DirectoryListing.partitionOf)
  }

  override def state: StateDir = new StateDir(fs, root)

  override private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal =
    Journal.draft(txn, kind, operation, identity, runId, root, store.staging(txn))

  override protected def copyPermissions(staging: Path): Unit = FilePermissions.copy(fs, root, staging)

  override def discard(journal: Journal): Unit = {
    Journal.end(journal.txn)
    store.get(journal.txn)
      .filter(j => j.state == JournalState.Staging || j.state == JournalState.Prepared)
      .foreach(new PathCompletion(store).abandon)
    // a commit that got stuck is finished later, from these files
    if (store.get(journal.txn).isEmpty) fs.delete(journal.staging, true)
    ()
  }

  override def commit(journal: Journal, request: CommitRequest): Unit = {
    val units =
      try {
        checkBase()
        checkStaged(journal)
        SwapPlan.forPath(store, journal, request.inputs, content.actual)
      } catch { case e: Throwable => discard(journal); throw e }
    val record = SwapPlan.inPlace(request.record, content.actual)
    pathCommit.commit(journal.copy(units = units), record, request.layouts)
    runs = state.nextNumber()
  }

  private def pathCommit = new PathCommit(store, CommitWait.of(session))

  override private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit =
    unit.copy(staged = unit.old, old = SwapPlan.below(store.retired(txn), unit.partition))

  override private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit = {
    pathCommit.commit(store.write(journal), record, Map.empty)
    ()
  }

  override private[parquet] def recoverCommits(stagingMs: Long): Unit =
    PathRecovery.recover(fs, root, stagingMs = stagingMs)

  /** Of two runs that began with the same files, the second stops, as for a table whose location changes. */
  private def checkBase(): Unit =
    if (named && state.nextNumber() != runs)
      throw new ZOrderConflictException(
        s"Another run has changed $name since this one began; nothing was changed, run it again.")

  /** Where the data of each partition is now. */
  override def liveDirs(): Map[String, Path] =
    Map("" -> root) ++ content.actual.values.map(p => p -> (if (p.isEmpty) root else new Path(root, p)))
}

package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, CatalogTableType}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CommitWait,
  PathCommit,
  PathCompletion,
  Replacement,
  SwapPlan
}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FilePermissions}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
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
 *   the table of the catalog that lies there, if one is known: its location stays
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
  private[parquet] def ident: Option[TableIdentifier] = registered.filter(_ => named).map(_.identifier)

  /** Whoever drops a managed table drops its data: what lay there before is another table's. */
  override def identity: String = managedBy.map(TableIdentity.of).getOrElse("")
  override def owns(journal: Journal): Boolean =
    journal.kind == "path" && !TableIdentity.differ(journal.table, identity) &&
      (journal.table.nonEmpty || managedBy.forall(_.createTime <= journal.changedMs))
  private var late = 0
  private var listed: Option[DirectoryListing] = Some(opened)
  private lazy val content = PathContent.read(session, root, opened)
  private val flat = registered.filter(t => named && t.partitionColumnNames.isEmpty)
  private var runs = state.nextNumber()

  override def schema: StructType =
    flat.map(_.schema).getOrElse(StructType(content.dataSchema ++ content.partitionSchema))
  override def declared: Option[StructType] = flat.map(_.dataSchema)
  override def partitionSchema: StructType = content.partitionSchema
  override def afterword: Option[String] = Some(ParquetTable.Exchanged)

  /** Those of the opened table; whoever asks again has them listed again. */
  override def files(): Seq[DataFile] = {
    val tree = listed.getOrElse(DirectoryListing.walk(fs, root))
    listed = None
    tree.dataFiles(DirectoryListing.partitionOf)
  }

  override def state: StateDir = new StateDir(fs, root)
  override def carriedOver: Int = late

  override def newStaging(runId: String): Path = {
    late += LateFiles.carry(this)
    val txn = Journal.newTxn(runId)
    val staging = store.staging(txn)
    Journal.begin(txn)
    preparing(staging) {
      store.write(draft(txn, runId, staging, Nil).at(JournalState.Staging))
      fs.mkdirs(staging)
      FilePermissions.copy(fs, root, staging) // what cannot be given back is found out before the work
    }
  }

  override def discard(staging: Path): Unit =
    txnOf(staging).foreach { txn =>
      Journal.end(txn)
      store.get(txn).filter(j => j.state == JournalState.Staging || j.state == JournalState.Prepared)
        .foreach(j => new PathCompletion(store).abandon(j))
      // a commit that got stuck goes on from there
      if (store.get(txn).isEmpty) fs.delete(staging, true)
    }

  override def commit(replacement: Replacement): Unit = {
    val txn = txnOf(replacement.staging).getOrElse(
      throw new IllegalArgumentException(s"${replacement.staging} is not a staging directory of $name"))
    val units =
      try {
        checkBase()
        SwapPlan.forPath(fs, root, replacement, content.actual)
      } catch { case e: Throwable => discard(replacement.staging); throw e }
    val record = SwapPlan.inPlace(replacement.record, content.actual)
    new PathCommit(store, CommitWait.of(session))
      .commit(draft(txn, replacement.runId, replacement.staging, units), record, replacement.layouts)
    runs = state.nextNumber()
    session.catalog.refreshByPath(root.toString)
    ident.foreach(i => session.catalog.refreshTable(i.quotedString))
  }

  /** As of a table whose location changes: of two runs that began with the same files, the second stops. */
  private def checkBase(): Unit =
    if (named && state.nextNumber() != runs)
      throw new ZOrderConflictException(
        s"Another run has changed $name since this one began; nothing was changed, run it again.")

  /** Where the present data of a unit of an earlier commit is. */
  override def liveDirs(): Map[String, Path] =
    Map("" -> root) ++ content.actual.values.map(p => p -> (if (p.isEmpty) root else new Path(root, p)))

  private def draft(txn: String, runId: String, staging: Path, units: Seq[SwapUnit]): Journal =
    Journal(
      txn,
      "path",
      "OPTIMIZE",
      JournalState.Staging,
      Journal.thisJvm,
      identity,
      runId,
      System.currentTimeMillis,
      root,
      staging,
      units,
      Nil)

  private def txnOf(staging: Path): Option[String] = {
    val mark = s".${root.getName}.zorder-"
    Some(staging.getName).filter(n => n.startsWith(mark) && n.endsWith(".new"))
      .map(_.stripPrefix(mark).stripSuffix(".new"))
  }
}

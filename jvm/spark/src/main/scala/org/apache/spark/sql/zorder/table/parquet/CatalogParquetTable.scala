package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, Operation, RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CatalogCommit,
  CatalogEntry,
  CatalogRecovery,
  CommitWait
}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FilePermissions}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalKind, JournalStore, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.ObjectStores

/**
 * A Parquet table of Spark's catalog whose files move: runs write into new directories, which the catalog then names. If
 * it is partitioned, its partitions are in the catalog too.
 *
 * @param agreed
 *   whether the user has said that the files may move
 * @param opened
 *   what lay in the directory of a table without partitions when it was opened
 */
private[zorder] final class CatalogParquetTable(
    private[zorder] val entry: CatalogEntry,
    agreed: Boolean,
    opened: Option[DirectoryListing])
    extends ParquetTable {

  override def session: ClassicSession = entry.session
  override def name: String = entry.name
  private def fs: FileSystem = entry.fs
  private var first = opened

  /** Elsewhere than on a store they never move unasked. */
  override def notAgreed: Option[String] =
    if (agreed) None
    else {
      val to = if (isManaged) s"hidden directories in $root" else s"new directories beside $root"
      Some(
        s"A directory cannot be exchanged in one step on ${fs.getUri.getScheme}, so a run would move the files of $name " +
          s"to $to, and programs that read or write $root by path would miss them: say WITH (location = 'move') " +
          "once if that is right, or write a copy with INTO 'path'.")
    }

  override def root: Path = entry.root
  override def roots: Seq[Path] =
    (root +: new Path(root.getParent, entry.base) +: store.all().flatMap(_.units.flatMap(u =>
      Seq(u.old, u.target))))
      .filter(_.getParent == root.getParent)
  override def store: JournalStore = entry.store
  override def kind: JournalKind = JournalKind.Catalog
  override private[parquet] def catalogName: Option[TableIdentifier] = Some(entry.ident)
  override def identity: String = entry.identity
  override def schema: StructType = entry.meta.schema
  override def declared: Option[StructType] = Some(entry.meta.dataSchema)
  override def partitionSchema: StructType = entry.meta.partitionSchema
  override def properties: Map[String, String] = entry.meta.properties
  override def state: StateDir = entry.state
  override def partitioned: Boolean = entry.partitioned
  private[table] def isManaged: Boolean = entry.isManaged

  override def afterword: Option[String] = Some(ParquetTable.moved(home))

  /** Where the table was before its first run. */
  private def home: Path = if (isManaged) root else new Path(root.getParent, entry.base)

  /** A file keeps its name in the records wherever its partition moves. */
  override def recorded(file: DataFile): String = {
    val name = new Path(file.path).getName
    if (file.partition.isEmpty) name else s"${file.partition}/$name"
  }

  /** The first time those of the opened table; later calls list them again. */
  override def files(): Seq[DataFile] = {
    val tree = first.filter(_.root == root)
    first = None
    tree.fold(entry.files())(_.dataFiles(_ => ""))
  }

  override def liveDirs(): Map[String, Path] = entry.liveDirs()

  /** The first directory of an external table is its owner's, who may write there by path. */
  override private[parquet] def keepsDirectory(unit: SwapUnit): Boolean =
    entry.external && unit.old.getName == entry.base

  override private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal =
    Journal.draft(txn, kind, operation, identity, runId, root, entry.newDirectory(txn))

  override protected def copyPermissions(staging: Path): Unit =
    if (!ObjectStores.isOne(fs.getUri.getScheme) && fs.exists(root)) FilePermissions.copy(fs, root, staging)

  override def discard(journal: Journal): Unit = {
    Journal.end(journal.txn)
    CatalogRecovery.settle(entry, journal.txn)
  }

  override def commit(journal: Journal, request: CommitRequest): Unit = {
    checkStaged(journal)
    catalogCommit.commit(journal, request)
  }

  private def catalogCommit = new CatalogCommit(entry, CommitWait.of(session))

  override private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit =
    unit.copy(target = unit.old, staged = unit.old, old = unit.target)

  override private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit =
    catalogCommit.switch(journal, record)

  override private[parquet] def recoverCommits(stagingMs: Long): Unit =
    CatalogRecovery.recover(entry, store.all(), stagingMs)
}

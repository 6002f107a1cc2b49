package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ActiveStreams, ClusterTable, StateDir, TableWrite, Vacuumed}
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.commit.Replacement
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalState,
  JournalStore,
  TableIdentity,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.parquet.read.ParquetRows
import org.apache.spark.sql.zorder.table.parquet.write.StagedWrite
import org.apache.spark.sql.zorder.table.storage.StorageFailure

/** A plain Parquet table, known by path or by name. */
private[zorder] trait ParquetTable extends ClusterTable {

  def session: ClassicSession

  def store: JournalStore

  /** What the journals of this very table say in `table`. */
  def identity: String

  /** True for journals of this table, not of a dropped one that lay at the same place. */
  def owns(journal: Journal): Boolean =
    if (journal.table.isEmpty) journal.kind == "path" else TableIdentity.same(journal.table, identity)

  /** Finished commits of this table whose old files may still be there, oldest first. */
  def doneJournals(): Seq[Journal] =
    store.all().filter(j => j.state == JournalState.Done && owns(j))

  override def state: StateDir

  override def unfinished: Option[String] = UnfinishedCommits.notice(name, store, owns)

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path]

  /** A fresh, empty directory beside the root that a run writes to (mode append); nobody lists it. */
  def newStaging(runId: String): Path

  /** Makes a staging directory ready, or takes it away again and says why it cannot be used. */
  protected def preparing(staging: Path)(body: => Unit): Path =
    try {
      body
      staging
    } catch {
      case StorageFailure(said) =>
        discard(staging)
        if (StorageFailure.isFull(said))
          refuse(
            s"There is no room beside $root for its new files ($said); nothing was changed: free some, " +
              "or write a copy with INTO to a place that has room.")
        else
          refuse(
            s"Cannot prepare a directory beside $root with its owner and mode ($said); run as its owner, " +
              "or write a copy with INTO.")
    }

  /** Takes a staging directory away whose run failed before its commit; harmless after one. */
  def discard(staging: Path): Unit

  /** How many files `newStaging` found in an old directory of the table and copied into it. */
  def carriedOver: Int

  /**
   * Makes the staged files the table's files in place of `inputs`, or throws and changes nothing; the staging
   * directory is gone then. Files of the snapshot that are not inputs stay part of the table. In the staging
   * directory, partitions are spelt as Spark writes them.
   */
  def commit(replacement: Replacement): Unit

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    ParquetRows(session, root, partitions, dataSchema, partitionSchema)

  override def checkReaders(): Unit = ActiveStreams.refuseReaders(session, root)

  override def begin(runId: String): TableWrite = {
    val staging = newStaging(runId)
    new StagedWrite(
      root,
      staging,
      partitionSchema,
      f => commit(Replacement(f.record.runId, f.inputs, staging, f.record, f.layouts)),
      () => discard(staging))
  }

  override def vacuum(keepMs: Long, dryRun: Boolean): Seq[Vacuumed] =
    try new ParquetVacuum(this, keepMs, dryRun).run()
    catch {
      case StorageFailure(said) => refuse(s"The vacuum of $name stopped ($said); the next one goes on.")
    }

  override def rollback(statement: String): String =
    try ParquetRollback.run(session, this, statement)
    catch {
      case StorageFailure(said) =>
        refuse(s"The rollback of $name could not begin ($said); the table is as it was.")
    }

  override def remove(): Unit = ParquetRemove.run(session, this)
}

private[zorder] object ParquetTable {

  /** What is true of every exchange of directories, and of no commit that leaves the old ones in place. */
  val Exchanged: String =
    "Directories were exchanged: a query or DataFrame from before may not find its files; start it again."
}

package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{
  ActiveStreams,
  ClusterTable,
  CommitRequest,
  Operation,
  RunRecord,
  StateDir,
  TableWrite,
  Vacuumed
}
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.commit.UntouchedFiles
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit,
  TableIdentity,
  UnfinishedCommits
}
import org.apache.spark.sql.zorder.table.parquet.read.ParquetRows
import org.apache.spark.sql.zorder.table.parquet.write.StagedWrite
import org.apache.spark.sql.zorder.table.storage.{ObjectStores, StorageFailure}

/** A plain Parquet table, given by its path or by its name. */
private[zorder] trait ParquetTable extends ClusterTable {

  def session: ClassicSession

  /** Spark looks for the columns of a catalog in the files as the session compares names. */
  override def caseSensitive: Boolean = declared.isEmpty || session.sessionState.conf.caseSensitiveAnalysis
  override def settings: Map[String, String] = Map(SQLConf.CASE_SENSITIVE.key -> caseSensitive.toString)

  def store: JournalStore

  /** How journals identify this table (`Journal.table`). */
  def identity: String

  /** Whether a journal is of this table, not of a dropped one that lay at the same place. */
  def owns(journal: Journal): Boolean =
    if (journal.table.isEmpty) journal.kind == JournalKind.Path
    else TableIdentity.same(journal.table, identity)

  /** Finished commits of this table whose old files may still exist, oldest first. */
  def doneJournals(): Seq[Journal] =
    store.all().filter(j => j.state == JournalState.Done && owns(j))

  override def state: StateDir

  override def unfinished: Option[String] = UnfinishedCommits.notice(name, store, owns)

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path]

  /** The catalog's name of the table, if it was opened by that. */
  private[parquet] def catalogName: Option[TableIdentifier]

  /** How its commits put new data in place. */
  def kind: JournalKind

  /** Whether the old directory of a commit stays when it is empty, because its owner may write there. */
  private[parquet] def keepsDirectory(unit: SwapUnit): Boolean = false

  /** The journal of a commit that has not begun, with the place of its staging directory. */
  private[parquet] def draft(txn: String, operation: Operation, runId: String): Journal

  /** Here rather than in the commit, to find out before the work what cannot be set. */
  protected def copyPermissions(staging: Path): Unit

  /** Begins a commit: writes its journal and makes its staging directory, which nobody lists. */
  def prepare(runId: String): Journal = {
    LateFiles.carry(this)
    stage(runId, Operation.Optimize)
  }

  private[parquet] def stage(runId: String, operation: Operation): Journal = {
    val txn = Journal.newTxn(runId)
    val journal = draft(txn, operation, runId)
    Journal.begin(txn)
    try {
      store.write(journal)
      store.fs.mkdirs(journal.staging)
      copyPermissions(journal.staging)
      journal
    } catch { case StorageFailure(said) => discard(journal); refuseStaging(said) }
  }

  private def refuseStaging(said: String): Nothing =
    if (StorageFailure.isFull(said))
      refuse(
        s"There is no room beside $root for its new files ($said); nothing was changed: free some, " +
          "or write a copy with INTO to a place that has room.")
    else
      refuse(
        s"Cannot prepare a directory beside $root with its owner and mode ($said); run as its owner, " +
          "or write a copy with INTO.")

  /**
   * Puts the staged files in place of `request.inputs`, or throws and changes nothing; the staging directory is
   * gone then. Files of the snapshot that are not inputs stay part of the table.
   *
   * @param journal
   *   from `prepare`. Below its staging directory, partitions are spelt as Spark writes them.
   */
  def commit(journal: Journal, request: CommitRequest): Unit

  /** The staging directory of a run that seems dead may be taken away by anybody's vacuum. */
  protected def checkStaged(journal: Journal): Unit = {
    val fs = store.fs
    val staged = store.get(journal.txn).exists(_.state == JournalState.Staging) &&
      (ObjectStores.isOne(fs.getUri.getScheme) || fs.exists(journal.staging))
    if (!staged) throw UntouchedFiles.outputsGone(journal.staging)
  }

  /** Takes away what was staged by a run that failed before its commit; harmless after one. */
  def discard(journal: Journal): Unit

  /** The exchange that takes this one back, in a commit of its own. */
  private[parquet] def reversed(txn: String, unit: SwapUnit): SwapUnit

  /** Commits a rollback, whose journal names what takes the place of what. */
  private[parquet] def commitRollback(journal: Journal, record: RunRecord): Unit

  /** Finishes or withdraws the commits that died, where nothing was staged for `stagingMs`. */
  private[parquet] def recoverCommits(stagingMs: Long): Unit

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    ParquetRows(session, root, partitions, dataSchema, partitionSchema)

  override def checkBeforeRun(): Unit = {
    ActiveStreams.refuseReaders(session, root)
    // before the work; `prepare` looks again, since what may be copied then is not what may be copied now
    LateFiles.ask(this, LateFiles.find(this))
  }

  override def begin(runId: String): TableWrite = {
    val journal = prepare(runId)
    new StagedWrite(root, journal.staging, partitionSchema, commit(journal, _), () => discard(journal))
  }

  /** Carries out what the user has said of late files; for each of their directories, what was done. */
  def settleLate(choice: LateChoice, statement: String): Seq[Vacuumed] =
    LateFiles.settle(this, choice, statement).toSeq.sortBy(_._1.toString).map { case (dir, found) =>
      Vacuumed(dir, 0, 0, if (choice == LateChoice.Ignore) 0 else found.size.toLong, choice.status)
    }

  override def vacuum(keepMs: Long, dryRun: Boolean): Seq[Vacuumed] =
    try new ParquetVacuum(this, keepMs, dryRun).run()
    catch {
      case StorageFailure(said) => refuse(s"The vacuum of $name stopped ($said); the next one goes on.")
    }

  override def rollback(statement: String): String =
    try ParquetRollback.run(this, statement)
    catch {
      case StorageFailure(said) =>
        refuse(s"The rollback of $name could not begin ($said); the table is as it was.")
    }

  override def remove(): Unit = remove(None, s"ZORDER REMOVE $name")

  def remove(home: Option[HomeChoice], statement: String): Unit =
    ParquetRemove.run(session, this, home, statement)
}

private[zorder] object ParquetTable {

  /** For commits that exchange directories instead of leaving the old ones in place. */
  def exchanged(root: Path): String =
    s"The files are in $root as before; directories were exchanged there, so a query or DataFrame from before may not " +
      "find its files; start it again."

  /** For commits that leave the old files in place. */
  def moved(root: Path): String =
    s"The table's files are not in $root any more: programs that read or write that path miss them, and see old " +
      "files until ZORDER VACUUM; ZORDER REMOVE brings them home."
}

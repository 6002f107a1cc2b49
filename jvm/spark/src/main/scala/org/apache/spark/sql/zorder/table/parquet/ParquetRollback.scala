package org.apache.spark.sql.zorder.table.parquet

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.RunRecord
import org.apache.spark.sql.zorder.table.parquet.commit.{CommitWait, PathCommit, SwapPlan}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, ListedFile}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, SwapUnit}

/** Back to the files before the last run. Rows that came since are taken along. */
private[zorder] object ParquetRollback {

  /** @return the id of the run that was undone */
  def run(session: ClassicSession, table: ParquetTable, statement: String): String = {
    LateFiles.carry(table)
    val kind = if (table.isInstanceOf[CatalogParquetTable]) "catalog" else "path"
    val runs = table.doneJournals().filter(j => j.operation == "OPTIMIZE" && j.kind == kind)
    val last = runs.lastOption.getOrElse(refuse(
      s"There is no run of ${table.name} to roll back: none was made, or its old files were vacuumed."))
    // of a run in batches, each has partitions of its own
    val commits = runs.filter(_.runId == last.runId)
    commits.flatMap(_.units).foreach(u => checkOld(table, u))
    commits.foreach(checkPlace(table, _))
    val recorded = table.state.standing().filter(_.runId == last.runId)
    checkWhole(table, commits, recorded)
    val txn = Journal.newTxn("")
    val record = RunRecord.rolledBack(last.runId, recorded.lastOption, number = 0, statement)
    table match {
      case t: CatalogParquetTable =>
        val draft = t.draft(txn, "ROLLBACK", record.runId, t.place(txn))
        val units = back(commits)(u => u.copy(target = u.old, staged = u.old, old = u.target))
        new CatalogCommit(t, CommitWait.of(session)).rollback(draft.copy(units = units), record)
      case t =>
        val units = back(commits)(u =>
          u.copy(staged = u.old, old = SwapPlan.below(t.store.retired(txn), u.partition)))
        val draft = Journal(
          txn,
          "path",
          "ROLLBACK",
          JournalState.Staging,
          Journal.thisJvm,
          t.identity,
          record.runId,
          System.currentTimeMillis,
          t.root,
          t.store.staging(txn),
          units,
          Nil)
        new PathCommit(t.store, CommitWait.of(session)).commit(t.store.write(draft), record, Map.empty)
        session.catalog.refreshByPath(t.root.toString)
    }
    last.runId
  }

  /** The units of these commits the other way round. */
  private def back(commits: Seq[Journal])(exchanged: SwapUnit => SwapUnit): Seq[SwapUnit] =
    for (commit <- commits; unit <- commit.units)
      yield exchanged(unit).copy(inputs = unit.outputs, kept = copied(commit, unit), outputs = unit.inputs)

  /** Files that are in the old and in the new directory, as they were when they were copied. */
  private def copied(journal: Journal, unit: SwapUnit): Seq[ListedFile] = {
    val base = s"${unit.old}/"
    unit.kept ++ journal.carried.filter(_.rel.startsWith(base))
      .map(f => f.copy(rel = f.rel.stripPrefix(base)))
  }

  private def checkOld(table: ParquetTable, unit: SwapUnit): Unit = {
    val there = DirectoryListing.walk(table.store.fs, unit.old).files.toSet
    val data = unit.named.filter(_.isData)
    if (unit.inputs.isEmpty || !data.forall(there))
      refuse(s"The last run of ${table.name} cannot be rolled back: its old files in ${unit.old} " +
        "were vacuumed or changed.")
  }

  /** Of a run in batches, a vacuum may have taken the first. */
  private def checkWhole(table: ParquetTable, commits: Seq[Journal], recorded: Seq[RunRecord]): Unit =
    if (recorded.length > commits.length)
      refuse(s"The last run of ${table.name} cannot be rolled back: some of its old files were vacuumed.")

  /** The data must be where the run put it, and its files as it wrote them. */
  private def checkPlace(table: ParquetTable, last: Journal): Unit = {
    val live = table.liveDirs()
    last.units.foreach { u =>
      val now = live.get(u.partition)
      val there = now.map(dir => DirectoryListing.walk(table.store.fs, dir).files.toSet).getOrElse(Set.empty)
      if (!now.map(_.toUri.getPath).contains(u.target.toUri.getPath) || !u.outputs.forall(there))
        refuse(s"${table.name} was overwritten, moved or partly deleted since the run ${last.runId}, " +
          "which can therefore not be rolled back without losing that.")
    }
  }
}

package org.apache.spark.sql.zorder.table.parquet

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{Operation, RunRecord}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, ListedFile}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, SwapUnit}

/** `ZORDER ROLLBACK`: returns to the files before the last run. Rows that were added since are kept. */
private[zorder] object ParquetRollback {

  /** @return the id of the run that was undone */
  def run(table: ParquetTable, statement: String): String = {
    LateFiles.carry(table)
    val runs = table.doneJournals().filter(j => j.operation == Operation.Optimize && j.kind == table.kind)
    val last = runs.lastOption.getOrElse(refuse(
      s"There is no run of ${table.name} to roll back: none was made, or its old files were vacuumed."))
    // each batch of a run has its own partitions
    val commits = runs.filter(_.runId == last.runId)
    commits.flatMap(_.units).foreach(u => checkOld(table, u))
    commits.foreach(checkPlace(table, _))
    val recorded = table.state.standing().filter(_.runId == last.runId)
    checkWhole(table, commits, recorded)
    val txn = Journal.newTxn("")
    val record = RunRecord.rolledBack(last.runId, recorded.lastOption, number = 0, statement)
    val draft = table.draft(txn, Operation.Rollback, record.runId)
    table.commitRollback(draft.copy(units = back(table, txn, commits)), record)
    last.runId
  }

  /** The exchanges that take these commits back. */
  private def back(table: ParquetTable, txn: String, commits: Seq[Journal]): Seq[SwapUnit] =
    for (commit <- commits; unit <- commit.units)
      yield table.reversed(txn, unit)
        .copy(inputs = unit.outputs, kept = copied(commit, unit), outputs = unit.inputs)

  /** Files that were copied from the old to the new directory, as they were then. */
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

  /** A vacuum may have deleted the old files of the run's first batches. */
  private def checkWhole(table: ParquetTable, commits: Seq[Journal], recorded: Seq[RunRecord]): Unit =
    if (recorded.length > commits.length)
      refuse(s"The last run of ${table.name} cannot be rolled back: some of its old files were vacuumed.")

  /** The data must be where the run put it, and its files must be as the run wrote them. */
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

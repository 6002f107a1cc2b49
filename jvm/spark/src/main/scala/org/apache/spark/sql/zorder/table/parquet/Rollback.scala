package org.apache.spark.sql.zorder.table.parquet

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{DataFile, RunRecord}

/** Back to the files before the last run. Rows that came since are taken along. */
private[zorder] object Rollback {

  /** @return the id of the run that was undone */
  def run(session: ClassicSession, table: ParquetTable): String = {
    LateFiles.carry(table)
    val kind = if (table.isInstanceOf[CatalogParquetTable]) "catalog" else "path"
    val runs = table.doneJournals().filter(j => j.operation == "OPTIMIZE" && j.kind == kind)
    val last = runs.lastOption.getOrElse(refuse(
      s"There is no run of ${table.name} to roll back: none was made, or its old files were vacuumed."))
    last.units.foreach(u => checkOld(table, u))
    checkPlace(table, last)
    val txn = Journal.newTxn("")
    val record = recordOf(table, last)
    table match {
      case t: CatalogParquetTable =>
        val draft = t.draft(txn, "ROLLBACK", record.runId, new Path(t.store.parent, s"${t.base}.z$txn"))
        val units = last.units.map(u =>
          u.copy(
            target = u.old,
            staged = u.old,
            old = u.target,
            inputs = u.outputs,
            kept = copied(last, u),
            outputs = u.inputs))
        new CatalogSwap(t, WaitMs.of(session)).rollback(draft.copy(units = units), record)
      case t =>
        val units = last.units.map(u =>
          u.copy(
            staged = u.old,
            old = UnitPlan.below(t.store.retired(txn), u.partition),
            inputs = u.outputs,
            kept = copied(last, u),
            outputs = u.inputs))
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
        new PathSwap(t.store, WaitMs.of(session)).commit(t.store.write(draft), record, Map.empty)
        session.catalog.refreshByPath(t.root.toString)
    }
    last.runId
  }

  /** Files that are in the old and in the new directory, as they were when they were copied. */
  private def copied(journal: Journal, unit: SwapUnit): Seq[TreeFile] = {
    val base = s"${unit.old}/"
    unit.kept ++ journal.carried.filter(_.rel.startsWith(base))
      .map(f => f.copy(rel = f.rel.stripPrefix(base)))
  }

  private def checkOld(table: ParquetTable, unit: SwapUnit): Unit = {
    val there = Tree.walk(table.store.fs, unit.old).files.toSet
    val data = unit.named.filter(_.isData)
    if (unit.inputs.isEmpty || !data.forall(there))
      refuse(s"The last run of ${table.name} cannot be rolled back: its old files in ${unit.old} " +
        "were vacuumed or changed.")
  }

  /** The data must be where the run put it, and its files as it wrote them. */
  private def checkPlace(table: ParquetTable, last: Journal): Unit = {
    val live = table.liveDirs()
    last.units.foreach { u =>
      val now = live.get(u.partition)
      val there = now.map(dir => Tree.walk(table.store.fs, dir).files.toSet).getOrElse(Set.empty)
      if (!now.map(_.toUri.getPath).contains(u.target.toUri.getPath) || !u.outputs.forall(there))
        refuse(s"${table.name} was overwritten, moved or partly deleted since the run ${last.runId}, " +
          "which can therefore not be rolled back without losing that.")
    }
  }

  /** The history goes on from the record before the run, so that its layout counts again. */
  private def recordOf(table: ParquetTable, last: Journal): RunRecord = {
    val runs = table.state.runs()
    val undone = runs.lastIndexWhere(r => r.runId == last.runId && r.operation == "OPTIMIZE")
    val before = runs.take(math.max(0, undone)).lastOption
    val now = System.currentTimeMillis
    RunRecord(
      number = 0,
      runId = UUID.randomUUID.toString.replace("-", "").take(12),
      startedMs = now,
      finishedMs = now,
      operation = "ROLLBACK",
      statement = s"ZORDER ROLLBACK ${table.name}",
      columns = before.map(_.columns).getOrElse(Nil),
      curve = before.map(_.curve).getOrElse(""),
      layoutIds = before.map(_.layoutIds).getOrElse(Map.empty),
      files = before.map(_.files).getOrElse(Nil),
      rewritten = last.units.flatMap(u =>
        u.outputs.map(f =>
          DataFile(s"${u.target}/${f.rel}", f.length, f.modified, u.partition))),
      report = s"""{"rolled_back":"${last.runId}"}""")
  }
}

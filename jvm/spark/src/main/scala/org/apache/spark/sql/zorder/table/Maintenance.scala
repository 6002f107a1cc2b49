package org.apache.spark.sql.zorder.table

import java.sql.Timestamp

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** `ZORDER VACUUM`, `ROLLBACK` and `REMOVE`, and the history of a table. */
object Maintenance {

  val vacuumSchema: StructType = new StructType()
    .add("path", StringType).add("files_deleted", LongType).add("bytes_deleted", LongType)
    .add("files_carried_over", LongType).add("status", StringType)

  val rollbackSchema: StructType =
    new StructType().add("path", StringType).add("status", StringType).add("run_id", StringType)

  val removeSchema: StructType = new StructType().add("path", StringType).add("status", StringType)

  val historySchema: StructType = new StructType()
    .add("run", IntegerType).add("run_id", StringType).add("operation", StringType)
    .add("started", TimestampType).add("finished", TimestampType)
    .add("columns", ArrayType(StringType)).add("curve", StringType)
    .add("files_added", IntegerType).add("files_removed", IntegerType)
    .add("statement", StringType).add("report", StringType).add("branch", StringType)

  /**
   * Deletes files that runs have rewritten and that are older than the retention; one row for each old
   * directory, or one row NOTHING_TO_DO.
   *
   * @param retainHours
   *   over the property `zorder.retention`, over `spark.zorder.retention`, over 7 days
   */
  def vacuum(
      session: ClassicSession,
      ref: TableRef,
      retainHours: Option[Double],
      dryRun: Boolean): Seq[Row] = {
    retainHours.filterNot(h => h >= 0 && !h.isInfinite).foreach { h =>
      refuse(s"The retention of $h hours is not a length of time; give 0 or more hours.")
    }
    val table = TableResolver.open(session, ref)
    val keepMs = retainHours.map(h => (h * 3600000).toLong).getOrElse(RunOptions.retention(
      table.properties,
      session.conf.getAll))
    val rows = table.vacuum(keepMs, dryRun).map { r =>
      val status = if (dryRun && r.status == "DELETED") "DRY_RUN" else r.status
      Row(r.path.toString, r.files, r.bytes, r.carried, status)
    }
    if (!dryRun) unclaimed(session, table)
    refresh(session, ref)
    if (rows.isEmpty) Seq(Row(table.root.toString, 0L, 0L, 0L, "NOTHING_TO_DO")) else rows
  }

  /** Puts the files before the last run back; what was appended since stays. */
  def rollback(session: ClassicSession, ref: TableRef): Row = {
    val table = TableResolver.open(session, ref)
    val undone = table.rollback()
    refresh(session, ref)
    Row(table.root.toString, "ROLLED_BACK", undone)
  }

  /** Deletes `_zorder/`, journals, old directories and `zorder.*` properties. */
  def remove(session: ClassicSession, ref: TableRef): Row = {
    val table = TableResolver.open(session, ref)
    table.remove()
    unclaimed(session, table)
    refresh(session, ref)
    Row(table.root.toString, "REMOVED")
  }

  /** The runs of a table, oldest first. */
  def history(session: ClassicSession, ref: TableRef): Seq[Row] =
    TableResolver.open(session, ref).state.runs().map { r =>
      Row(
        r.number,
        r.runId,
        r.operation,
        new Timestamp(r.startedMs),
        new Timestamp(r.finishedMs),
        r.columns,
        r.curve,
        r.files.size,
        r.rewritten.size,
        r.statement,
        r.report,
        r.branch.orNull)
    }

  private def unclaimed(session: ClassicSession, table: ClusterTable): Unit =
    Claim.clear(table.root.getFileSystem(session.sessionState.newHadoopConf()), table.root)

  private def refresh(session: ClassicSession, ref: TableRef): Unit = ref match {
    case TableRef.Location(path) => session.catalog.refreshByPath(path)
    case TableRef.Name(parts) =>
      session.catalog.refreshTable(parts.map(p => s"`${p.replace("`", "``")}`").mkString("."))
  }
}

package org.apache.spark.sql.zorder.table.resolve

import java.sql.Timestamp

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.{RunOptions, ZOrderOption}
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{
  ClusterTable,
  ClusteredBy,
  Operation,
  Retention,
  SessionRefresh,
  TableRef,
  VacuumResult,
  VacuumStatus
}
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice, ParquetTable}
import org.apache.spark.sql.zorder.table.storage.RunClaim

/** `ZORDER VACUUM`, `ROLLBACK` and `REMOVE`, and the history and the format of a table. */
object Maintenance {

  val vacuumSchema: StructType = new StructType()
    .add("path", StringType).add("files_deleted", LongType).add("bytes_deleted", LongType)
    .add("files_carried_over", LongType).add("status", StringType).add("reason", StringType)

  val rollbackSchema: StructType =
    new StructType().add("path", StringType).add("status", StringType).add("run_id", StringType)

  val removeSchema: StructType = new StructType().add("path", StringType).add("status", StringType)

  val historySchema: StructType = new StructType()
    .add("run", IntegerType).add("run_id", StringType).add("operation", StringType)
    .add("started", TimestampType).add("finished", TimestampType)
    .add("columns", ArrayType(StringType)).add("curve", StringType)
    .add("files_added", IntegerType).add("files_removed", IntegerType)
    .add("statement", StringType).add("report", StringType).add("branch", StringType)
    .add("location", StringType).add("status", StringType)

  val formatSchema: StructType = new StructType()
    .add("format", StringType).add("location", StringType).add("partitioned", BooleanType)
    .add("clustering_columns", ArrayType(StringType))

  /**
   * Deletes files that runs have rewritten and that are older than the retention. Returns one row for each old
   * directory, or one row NOTHING_TO_DO.
   *
   * @param retainHours
   *   takes precedence over the property `zorder.retention`, `spark.zorder.retention`, the default of 7 days, and a
   *   longer retention of the table's format
   * @param late
   *   what files are that a job has written to a place whose old files are gone; a dry run only lists them
   */
  def vacuum(
      session: ClassicSession,
      ref: TableRef,
      retainHours: Option[Double],
      dryRun: Boolean,
      late: Option[LateChoice] = None): Seq[Row] = {
    retainHours.filterNot(h => h >= 0 && !h.isInfinite).foreach { h =>
      refuse("ZORDER_INVALID_OPTION.RETAIN_HOURS", "value" -> h)
    }
    val table =
      if (dryRun) TableResolver.locate(session, ref) else TableResolver.open(session, ref)
    val (before, roots) = (table.root, table.roots)
    val retention = retainHours match {
      case Some(h) => Retention((h * 3600000).toLong, stated = true)
      case None =>
        Retention(RunOptions.retention(table.properties, session.conf.getAll), stated = false)
    }
    val settled = late.toSeq.flatMap(settle(table, _, ref, dryRun))
    val rows = (settled ++ table.vacuum(retention, dryRun)).map { r =>
      val status = if (dryRun && r.status == VacuumStatus.Deleted) "DRY_RUN" else r.status.name
      Row(r.path.toString, r.files, r.bytes, r.carried, status, r.status.reason.orNull)
    }
    if (!dryRun) {
      unclaimed(session, table, roots)
      SessionRefresh(session, ref, Seq(before, table.root))
    }
    if (rows.isEmpty) Seq(Row(table.root.toString, 0L, 0L, 0L, "NOTHING_TO_DO", nothingOld)) else rows
  }

  private val nothingOld = "Runs have left no files here that are older than the retention."

  private def settle(
      table: ClusterTable,
      late: LateChoice,
      ref: TableRef,
      dryRun: Boolean): Seq[VacuumResult] = table match {
    case _: ParquetTable if dryRun => Nil
    case plain: ParquetTable => plain.settleLate(late, s"ZORDER VACUUM ${ref.sql} LATE FILES ${late.word}")
    case _ => refuse("ZORDER_TABLE_REFUSED.NO_LATE_FILES", "table" -> table.name)
  }

  /** Returns to the files before the last run; what was appended since is kept. */
  def rollback(session: ClassicSession, ref: TableRef): Row = {
    val table = TableResolver.open(session, ref)
    val before = table.root
    val undone = table.rollback(s"ZORDER ROLLBACK ${ref.sql}")
    SessionRefresh(session, ref, Seq(before, table.root))
    Row(table.root.toString, "ROLLED_BACK", undone)
  }

  /**
   * Deletes `_zorder/`, journals, old directories and `zorder.*` properties; NOTHING_TO_DO if there are none.
   *
   * @param home
   *   what becomes of files that have moved; where directories are renamed they go home by default
   */
  def remove(session: ClassicSession, ref: TableRef, home: Option[HomeChoice] = None): Row = {
    val table = TableResolver.open(session, ref)
    val (before, roots, left) = (table.root, table.roots, hasTraces(session, table))
    val statement = s"ZORDER REMOVE ${ref.sql}" + home.fold("")(h => s" ${h.words}")
    (table, home) match {
      case (plain: ParquetTable, _) => plain.remove(home, statement)
      case (_, None) =>
        RunClaim.holder(table.claims(session, roots)).foreach { run =>
          throw new ZOrderConflictException(
            "ZORDER_CONFLICT.REMOVE_DURING_RUN",
            "run" -> run,
            "table" -> table.name)
        }
        table.remove()
      case (_, Some(h)) =>
        refuse("ZORDER_TABLE_REFUSED.NO_MOVED_FILES", "statement" -> h.words, "table" -> table.name)
    }
    unclaimed(session, table, roots)
    SessionRefresh(session, ref, Seq(before, table.root))
    Row(table.root.toString, if (left) "REMOVED" else "NOTHING_TO_DO")
  }

  private def hasTraces(session: ClassicSession, table: ClusterTable): Boolean = {
    def beside = table match {
      case plain: ParquetTable => plain.store.hasTraces
      case _ => false
    }
    table.hasState(session) || beside || table.properties.keys.exists(ZOrderOption.isOurs)
  }

  /** The runs of a table that changed its files, oldest first: DONE, or ROLLED_BACK if a later one undid it. */
  def history(session: ClassicSession, ref: TableRef): Seq[Row] = {
    val runs = TableResolver.locate(session, ref).state.ownRuns()
    val undone = runs.filter(_.operation == Operation.Rollback).map(_.runId).toSet
    runs.map { r =>
      Row(
        r.number,
        r.runId,
        r.operation.text,
        new Timestamp(r.startedMs),
        new Timestamp(r.finishedMs),
        r.columns,
        r.curve,
        r.files.size,
        r.rewritten.size,
        r.statement,
        r.report,
        r.branch.orNull,
        r.location.orNull,
        if (r.operation == Operation.Optimize && undone(r.runId)) "ROLLED_BACK" else "DONE")
    }
  }

  /**
   * What those need to know who read or write the table with Spark: the name of its format, where it is, and the columns
   * of its newest run by their present names (NULL without a run, or if one of them was dropped).
   */
  def format(session: ClassicSession, ref: TableRef): Row = {
    val table = TableResolver.locate(session, ref)
    Row(
      table.format,
      table.root.toString,
      table.partitioned,
      ClusteredBy.lastRunIfThere(table).map(_.toArray).orNull)
  }

  /** Deletes the claims of dead runs, beside the table and where it was before. */
  private def unclaimed(session: ClassicSession, table: ClusterTable, roots: Seq[Path]): Unit =
    RunClaim.clear(table.claims(session, roots))
}

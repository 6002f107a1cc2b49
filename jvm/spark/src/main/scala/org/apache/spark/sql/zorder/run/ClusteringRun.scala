package org.apache.spark.sql.zorder.run

import java.util.{Locale, UUID}

import scala.annotation.tailrec

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.NoRowsYetException
import org.apache.spark.sql.zorder.run.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.run.report.{RunMetrics, RunReport, RunSource, RunStatus}
import org.apache.spark.sql.zorder.run.request.{ClusterRequest, Progress, RunContext, TableOptions}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.IndexUpkeep
import org.apache.spark.sql.zorder.table.{ClusterTable, SessionRefresh, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.RunClaim

/**
 * One clustering run from statement to result row: select, sample, fit, forecast, rewrite, verify, commit,
 * report. Nothing of the table changes before the commit; whatever fails before it leaves no trace.
 */
object ClusteringRun {
  val resultSchema: StructType = RunReport.schema

  def run(session: SparkSession, request: ClusterRequest): Row = {
    val report = reported(Shims.classic(session), request)
    RunSource.ended(if (request.dryRun) RunStatus.DryRun else report.status)
    report.row
  }

  private def reported(user: Shims.ClassicSession, request: ClusterRequest): RunReport =
    try begun(user, request)
    catch {
      case e: NoRowsYetException =>
        RunReport(name(request.target), RunStatus.TooSmall, e.getMessage, "", "", RunMetrics(), None)
    }

  private def name(target: TableRef): String = target match {
    case TableRef.Name(parts) => parts.mkString(".")
    case TableRef.Location(path) => path
  }

  private def begun(user: Shims.ClassicSession, request: ClusterRequest): RunReport = {
    def found() =
      if (request.changes) TableResolver.open(user, request.target)
      else TableResolver.locate(user, request.target)
    val table = found()
    val options = TableOptions.of(table, request.options, user)
    val progress = new Progress(user, UUID.randomUUID().toString.take(8), table.name)
    def on(snapshot: ClusterTable) = RunContext(user, request, snapshot, options, progress)
    if (request.into.isEmpty) table.checkReaders()
    claimed(user, table, progress.runId, options, request.changes)(UnreadableFiles.explained(table.name) {
      val batches = new Batches(options, System.currentTimeMillis())
      inBatches(on(table), batches, () => on(found()))
    })
  }

  /** Lets others see that a run is at work on the table. */
  private def claimed[A](
      user: Shims.ClassicSession,
      table: ClusterTable,
      runId: String,
      options: RunOptions,
      changes: Boolean)(body: => A): A = {
    def fs = table.root.getFileSystem(user.sessionState.newHadoopConf())
    val claim =
      if (changes) RunClaim.take(fs, table.root, table.name, runId, options.giveWay) else None
    try body
    finally claim.foreach(_.close())
  }

  /** Batch by batch, each on the table as the one before it has left it. */
  @tailrec
  private def inBatches(
      context: RunContext,
      batches: Batches,
      again: () => RunContext,
      before: Option[RunReport] = None): RunReport = {
    val ending = oneBatch(context, batches)
    val report = before.foldLeft(reported(context, ending))((now, earlier) => earlier.and(now))
    val why = batches.ended(report)
    if (ending.batch.isLast) report
    else if (why.isDefined)
      report.partial(s"${why.get}, and ${ending.batch.said}: the same statement goes on there.")
    else {
      // Spark deletes the shuffle files of a batch when the driver's collector has found that nobody needs them
      System.gc()
      inBatches(again(), batches.after(ending.batch), again, Some(report))
    }
  }

  private def oneBatch(context: RunContext, batches: Batches): BatchResult = {
    import context.{request, table, user}
    val before = table.root
    val indexed = if (request.changes) IndexUpkeep.before(user, table) else None
    try {
      val ending = new BatchRun(context, batches).apply()
      if (request.changes && ending.status == RunStatus.Done) {
        SessionRefresh(user, request.target, Seq(before, table.root))
        indexed.foreach(_.after(request.target))
      }
      ending
    } finally table.close()
  }

  private def reported(context: RunContext, ending: BatchResult): RunReport = {
    import context.progress
    val reason = ending.reason + left(context).fold("")(" " + _)
    progress.say(s"${ending.status.name.toLowerCase(Locale.ROOT)}: $reason")
    val report = RunReport(
      ending.root.getOrElse(context.table.root).toString,
      ending.status,
      reason,
      progress.runId,
      ending.layout,
      ending.metrics.copy(endTimeMs = System.currentTimeMillis(), stepMs = progress.stepMs),
      ending.outlook.map(_.report))
    RunSource.wrote(report)
    report
  }

  /** What a statement that changes nothing has found unfinished. */
  private def left(context: RunContext): Option[String] =
    if (context.request.changes) None else context.table.unfinished
}

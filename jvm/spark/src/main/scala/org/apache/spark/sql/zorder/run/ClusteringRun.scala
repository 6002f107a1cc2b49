package org.apache.spark.sql.zorder.run

import java.util.{Locale, UUID}

import scala.annotation.tailrec

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.{NoRowsYetException, ZOrderException}
import org.apache.spark.sql.zorder.run.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.run.report.{RunMetrics, RunReport, RunSource, RunStatus}
import org.apache.spark.sql.zorder.run.request.{ClusterRequest, Progress, RunContext, TableOptions}
import org.apache.spark.sql.zorder.run.rewrite.BatchMetrics
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.IndexUpkeep
import org.apache.spark.sql.zorder.table.{ClusterTable, SessionRefresh, TableRef}
import org.apache.spark.sql.zorder.table.resolve.TableResolver
import org.apache.spark.sql.zorder.table.storage.RunClaim

/**
 * One clustering run from the statement to its result row. It opens the table and runs one `BatchRun` after the
 * other, each of which is one commit. Nothing of the table changes before a commit; a failure before it leaves
 * no trace.
 */
object ClusteringRun {
  val resultSchema: StructType = RunReport.schema

  def run(session: SparkSession, request: ClusterRequest): Row = {
    val user = Shims.classic(session)
    val report =
      try runBatches(user, request)
      catch {
        case e: NoRowsYetException =>
          RunReport(nameOf(request.target), RunStatus.TooSmall, e.getMessage, "", "", RunMetrics(), None)
      }
    RunSource.ended(if (request.dryRun) RunStatus.DryRun else report.status)
    report.row
  }

  private def nameOf(target: TableRef): String = target match {
    case TableRef.Name(parts) => parts.mkString(".")
    case TableRef.Location(path) => path
  }

  private def runBatches(user: Shims.ClassicSession, request: ClusterRequest): RunReport = {
    def open(): ClusterTable =
      if (request.changes) TableResolver.open(user, request.target, request.options)
      else TableResolver.locate(user, request.target, request.options)
    val table = open()
    if (request.changes) table.notAgreed.foreach(ZOrderException.notAgreed)
    val options = TableOptions.of(table, request.options, user)
    val progress = new Progress(user, UUID.randomUUID().toString.take(8), table.name)
    withClaim(user, table, progress.runId, options, request.changes)(UnreadableFiles.explained(table.name) {
      if (request.into.isEmpty) table.checkBeforeRun()
      val context = RunContext.of(user, request, table, options, progress)
      val index = if (request.changes) IndexUpkeep.before(user, table) else None
      // once for all batches, and for those that stand when one fails
      try runBatches(context, new Batches(options, System.currentTimeMillis()), () => open(), index)
      finally index.foreach(_.afterCommits(request.target))
    })
  }

  /** Lets other runs see that one is at work on the table. */
  private def withClaim[A](
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

  /** Runs batch after batch, each on the table as the one before has left it. */
  @tailrec
  private def runBatches(
      context: RunContext,
      batches: Batches,
      reopen: () => ClusterTable,
      index: Option[IndexUpkeep],
      earlier: Option[RunReport] = None): RunReport = {
    val result = runBatch(context, batches, index)
    val report = earlier.foldLeft(reportOf(context, result))((now, before) => before.and(now))
    val limit = batches.limitReached(report)
    if (result.batch.isLast) report
    else if (limit.isDefined)
      report.partial(
        s"${limit.get}, and ${result.batch.remaining}: run the same statement again to continue.")
    else {
      // Spark deletes a batch's shuffle files only after the driver's garbage collector has freed their dependencies
      System.gc()
      runBatches(context.next(reopen()), batches.after(result.batch), reopen, index, Some(report))
    }
  }

  private def runBatch(context: RunContext, batches: Batches, index: Option[IndexUpkeep]): BatchResult = {
    import context.{request, table, user}
    val rootBefore = table.root
    try {
      val result = new BatchRun(context, batches).apply()
      if (request.changes && result.status == RunStatus.Done) {
        SessionRefresh(user, request.target, Seq(rootBefore, table.root))
        index.foreach(_.committed())
      }
      result
    } finally table.close()
  }

  private def reportOf(context: RunContext, result: BatchResult): RunReport = {
    import context.progress
    val reason = result.report.reason + unfinished(context).fold("")(" " + _)
    progress.announce(s"${result.status.name.toLowerCase(Locale.ROOT)}: $reason")
    val report =
      result.report.copy(reason = reason, metrics = BatchMetrics.ended(result.report.metrics, progress))
    RunSource.wrote(report)
    report
  }

  /** What a statement that changes nothing has found unfinished, or not agreed to. */
  private def unfinished(context: RunContext): Option[String] =
    if (context.request.changes) None
    else context.table.unfinished.orElse(if (context.request.dryRun) context.table.notAgreed else None)
}

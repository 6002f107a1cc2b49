package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.run.forecast.Forecast
import org.apache.spark.sql.zorder.run.report.{RunMetrics, RunReport, RunStatus}
import org.apache.spark.sql.zorder.run.request.RunContext

/**
 * How a batch ended.
 *
 * @param report
 *   what the statement returns if this was its only batch; the times are entered at the very end
 * @param batch
 *   where the statement goes on
 */
final private[run] case class BatchResult(report: RunReport, batch: Batch) {
  def status: RunStatus = report.status
}

private[run] object BatchResult {

  /** Of a batch that has written nothing. */
  def of(
      context: RunContext,
      status: RunStatus,
      reason: String,
      metrics: RunMetrics,
      layout: String = "",
      forecast: Option[Forecast] = None,
      batch: Batch = Batch()): BatchResult =
    BatchResult(
      RunReport(
        context.table.root.toString,
        status,
        reason,
        context.progress.runId,
        layout,
        metrics,
        forecast.map(_.report)),
      batch)

  /** A table without rows is no failure: a nightly job on it ends without an error. */
  def empty(context: RunContext, lacks: String, metrics: RunMetrics, batch: Batch = Batch()): BatchResult =
    of(
      context,
      RunStatus.TooSmall,
      s"${context.table.name} has no $lacks: there is nothing to cluster yet.",
      metrics,
      batch = batch)

  /**
   * The result of a dry run that would change the table: its status is DRY_RUN, and its reason begins with the
   * status that the run would have. (One that would change nothing has the status and the reason of that run.)
   *
   * @param limit
   *   why the run would end before its last batch
   * @param text
   *   what the run would do
   */
  def dryRun(
      context: RunContext,
      limit: Option[String],
      text: String,
      metrics: RunMetrics,
      layout: String,
      forecast: Forecast,
      batch: Batch = Batch()): BatchResult = {
    val status = limit match {
      case None => RunStatus.Done.name
      case Some(why) => s"${RunStatus.Partial.name}, since $why"
    }
    val reason = s"The run would end as $status: $text"
    of(context, RunStatus.DryRun, reason, metrics, layout, Some(forecast), batch)
  }
}

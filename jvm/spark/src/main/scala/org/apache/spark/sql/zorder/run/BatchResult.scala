package org.apache.spark.sql.zorder.run

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.run.forecast.Forecast
import org.apache.spark.sql.zorder.run.report.{RunMetrics, RunStatus}
import org.apache.spark.sql.zorder.run.rewrite.{RewritePlan, RewriteResult}

/**
 * How a batch ended, before it is reported.
 *
 * @param root
 *   where the rows are, if not where the table was
 */
final private[run] case class BatchResult(
    status: RunStatus,
    reason: String,
    metrics: RunMetrics,
    layout: String = "",
    forecast: Option[Forecast] = None,
    root: Option[Path] = None,
    batch: Batch = Batch())

private[run] object BatchResult {

  /** A table without rows is no failure: a nightly job on it ends without an error. */
  def empty(table: String, lacks: String, metrics: RunMetrics): BatchResult =
    BatchResult(RunStatus.TooSmall, s"$table has no $lacks: there is nothing to cluster yet.", metrics)

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
    BatchResult(RunStatus.DryRun, reason, metrics, layout, Some(forecast), batch = batch)
  }

  def done(plan: RewritePlan, written: RewriteResult, reason: String, batch: Batch): BatchResult =
    BatchResult(
      RunStatus.Done,
      reason,
      written.metrics,
      plan.layout,
      Some(written.forecast),
      Some(written.root),
      batch)
}

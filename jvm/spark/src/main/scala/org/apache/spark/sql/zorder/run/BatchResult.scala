package org.apache.spark.sql.zorder.run

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.run.forecast.Forecast
import org.apache.spark.sql.zorder.run.report.{RunMetrics, RunStatus}
import org.apache.spark.sql.zorder.run.rewrite.RewriteResult

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
    outlook: Option[Forecast] = None,
    root: Option[Path] = None,
    batch: Batch = Batch())

private[run] object BatchResult {

  /** A table that waits for its first rows is no failure: whoever runs every night finds it green. */
  def empty(table: String, lacks: String, metrics: RunMetrics): BatchResult =
    BatchResult(RunStatus.TooSmall, s"$table has no $lacks: there is nothing to cluster yet.", metrics)

  def done(written: RewriteResult, reason: String, layout: String, batch: Batch = Batch()): BatchResult =
    BatchResult(
      RunStatus.Done,
      reason,
      written.metrics,
      layout,
      Some(written.outlook),
      Some(written.root),
      batch)
}

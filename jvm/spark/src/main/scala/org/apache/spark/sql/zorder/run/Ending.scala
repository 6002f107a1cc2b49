package org.apache.spark.sql.zorder.run

import org.apache.hadoop.fs.Path

/**
 * How a batch ended, before it is reported.
 *
 * @param root
 *   where the rows are, if not where the table was
 */
final private[run] case class Ending(
    status: RunStatus,
    reason: String,
    metrics: RunMetrics,
    layout: String = "",
    outlook: Option[Outlook] = None,
    root: Option[Path] = None,
    batch: Batch = Batch())

private[run] object Ending {

  /** A table that waits for its first rows is no failure: whoever runs every night finds it green. */
  def empty(table: String, lacks: String, metrics: RunMetrics): Ending =
    Ending(RunStatus.TooSmall, s"$table has no $lacks: there is nothing to cluster yet.", metrics)

  def done(written: Written, reason: String, layout: String, batch: Batch = Batch()): Ending =
    Ending(
      RunStatus.Done,
      reason,
      written.metrics,
      layout,
      Some(written.outlook),
      Some(written.root),
      batch)
}

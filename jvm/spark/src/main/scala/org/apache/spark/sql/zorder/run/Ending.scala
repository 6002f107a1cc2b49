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

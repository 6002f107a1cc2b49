package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.zorder.stats.StatColumn

/**
 * The statistics that a run reads from footers: first those of clustering columns, then those of the columns
 * that clustering expressions are computed from, then others.
 */
final private[run] case class RunStatistics(columns: Seq[StatColumn], clustering: Int, bases: Int) {
  def baseNumbers: Range = clustering until clustering + bases
  def otherNumbers: Range = baseNumbers.end until columns.length
}

package org.apache.spark.sql.zorder.workload.scan

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.workload.predicate.{BoxColumn, RangePosition}
import sparkzorder.curve.Word
import sparkzorder.curve.cost.Interval

/**
 * What is known about a column's values without reading rows.
 *
 * @param range
 *   lowest and highest value
 * @param distinct
 *   number of values that differ
 * @param nullShare
 *   share of the rows that are NULL, 0 to 1
 */
final private[workload] case class ColumnStatistics(
    dataType: DataType,
    range: Option[(Word, Word)] = None,
    distinct: Option[Double] = None,
    nullShare: Option[Double] = None) {

  /** The share of the range that an interval covers, as if values were spread evenly; two digits of it. */
  def width(interval: Interval): Option[Double] = range.map { case (low, high) =>
    val place = new RangePosition(low, high, dataType)
    val from = interval.min.fold(0.0)(place.of)
    val until = interval.max.fold(1.0)(place.of)
    ColumnStatistics.rounded(math.max(0.0, until - from))
  }

  /** The share of the rows that have one of `values` values, as if all values were equally frequent. */
  def selectivity(values: Int): Option[Double] =
    distinct.filter(_ >= 1).map(n =>
      ColumnStatistics.rounded(math.min(1.0, values / n) * (1 - nullShare.getOrElse(0.0))))
}

private[workload] object ColumnStatistics {

  /** Nothing is known of any column. */
  val none: BoxColumn => ColumnStatistics = c => ColumnStatistics(c.dataType)

  /** Two significant digits, so that queries which look alike are counted as one. */
  def rounded(share: Double): Double =
    if (share <= 0.0) 0.0 else BigDecimal(share).round(new java.math.MathContext(2)).toDouble
}

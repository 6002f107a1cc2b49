package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.zorder.fit.SampleColumn

/**
 * How often the values of a sampled column were found.
 *
 * @param values
 *   sampled rows that have a value
 * @param counts
 *   one number for each value that differs
 */
final private[advise] case class ValueCounts(values: Int, counts: IndexedSeq[Int]) {
  def distinct: Int = counts.size

  /**
   * Rows of the table that have the same value, about: of a row's equals as many are in the sample as it has of
   * all rows.
   */
  def rowsPerValue(sampledShare: Double): Double =
    1.0 + 2.0 * (values - distinct) / math.max(1, values) / sampledShare
}

private[advise] object ValueCounts {
  def of(column: SampleColumn): ValueCounts = {
    val sorted = column.sorted
    val starts = (0 until sorted.size).filter(i => i == 0 || sorted(i) != sorted(i - 1))
    ValueCounts(
      sorted.size,
      starts.zip(starts.drop(1) :+ sorted.size).map { case (from, until) => until - from })
  }
}

package org.apache.spark.sql.zorder.skip.filter

import java.util.BitSet

import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.workload.predicate.BoxColumn
import sparkzorder.curve.cost.Condition

/** The step after the ranges: Bloom filters say which files do not hold a single value. */
private[filter] object BloomStep {

  /**
   * Those of `byRanges` that the column's Bloom filters leave; a set of its own where they leave fewer.
   *
   * @param nulls
   *   per file the number of NULLs in the column, -1 where it is not known
   */
  def narrowed(
      index: StatisticsIndex,
      column: BoxColumn,
      condition: Condition,
      byRanges: BitSet,
      nulls: Array[Long]): BitSet =
    index.bloomsOf(column.sql, column.dataType).fold(byRanges)(_.narrow(byRanges, condition, nulls))
}

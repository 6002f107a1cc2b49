package org.apache.spark.sql.zorder.skip.filter

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.workload.predicate.Predicates

/**
 * The files in which a filter is true for every row: those where it may be neither false nor NULL. Whatever is not
 * understood may be false anywhere.
 */
final class FilesThatMatchWholly(index: StatisticsIndex, unansweredColumn: Expression => Boolean) {
  private val may = new FilesThatMayMatch(index, unansweredColumn)

  def apply(filters: Seq[Expression]): BitSet = {
    val whole = may.all
    filters.foreach { f =>
      if (!whole.isEmpty) whole.andNot(Predicates.whereNotTrue(f, may))
    }
    whole
  }
}

package org.apache.spark.sql.zorder.skip.filter

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.workload.predicate.{BoxColumn, FilterSets, MonotoneFunction, Predicates}
import sparkzorder.curve.LongWord
import sparkzorder.curve.cost.Condition

/**
 * The files of an index in which a filter may be true for some row, evaluated over all files at once. Whatever is
 * not understood may be true anywhere, so that an error of judgement reads a file too many and never one too few.
 *
 * @param unansweredColumn
 *   attributes that are not what the index has under their names, such as partition columns
 */
final class FilesThatMayMatch(index: StatisticsIndex, unansweredColumn: Expression => Boolean)
    extends FilterSets[BitSet] {
  private val count = index.files.count

  /** The files that may hold a row for which every filter is true. */
  def apply(filters: Seq[Expression]): BitSet =
    filters.reduceOption(And(_, _)).fold(all)(Predicates.whereTrue(_, this))

  /** A file has several ranges, and values on both sides of what is asked for. */
  override def forgetful: Boolean = true

  override def all: BitSet = {
    val set = new BitSet(count)
    set.set(0, count)
    set
  }

  override def none: BitSet = new BitSet(count)

  override def and(left: BitSet, right: => BitSet): BitSet = {
    if (!left.isEmpty) left.and(right)
    left
  }

  override def or(left: BitSet, right: => BitSet): BitSet = {
    if (left.cardinality < count) left.or(right)
    left
  }

  override def on(column: BoxColumn, condition: Condition): BitSet =
    if (condition.impossible) none
    else index.rangesOf(column.sql, column.dataType).fold(all) { ranges =>
      BloomStep.narrowed(index, column, condition, ranges.mayMeet(condition), ranges.nulls)
    }

  override def onFunction(e: Expression, function: BoxColumn, condition: Condition): BitSet = {
    val own = onExpression(e, condition).getOrElse(all)
    if (own.isEmpty) own
    else MonotoneFunction.onColumn(e, condition).fold(own) { case (column, c) => and(own, on(column, c)) }
  }

  override def asColumn(test: Expression, truth: Boolean): Option[BitSet] =
    if (test.dataType != BooleanType) None
    else onExpression(test, Condition.equal(LongWord(if (truth) 1L else 0L)))

  private def onExpression(e: Expression, condition: Condition): Option[BitSet] =
    if (condition.impossible) Some(none)
    else index.numberOf(e).flatMap(index.rangesAt).map(_.mayMeet(condition))

  override def unanswered(e: Expression): Boolean = e.references.exists(unansweredColumn)
}

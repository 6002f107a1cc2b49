package org.apache.spark.sql.zorder.workload.predicate

import org.apache.spark.sql.catalyst.expressions.Expression
import sparkzorder.curve.cost.Condition

/**
 * What a filter is turned into by [[Predicates]]: sets that hold every row (or file) in question, or more.
 *
 * Who asks what a filter would read has sets of its own, and the filter is read here for all of them. A scan and `ZORDER
 * EXPLAIN` ask for the files of an index, all at once, by the same class. `clustering_where`, and a run with a `WHERE`,
 * ask for one file, row group or page at a time, by its bounds. A query log takes the conditions themselves.
 */
private[zorder] trait FilterSets[R] {

  /** For what nothing is known of. */
  def all: R

  def none: R

  def and(left: R, right: => R): R

  def or(left: R, right: => R): R

  /**
   * Whether `and` forgets what two tests say of one column together: `c > 5 AND c < 9` is not met by a file that has
   * 1 and 20 and nothing between, though each test is.
   */
  def forgetful: Boolean = false

  /** Where the column meets the condition. */
  def on(column: BoxColumn, condition: Condition): R

  /**
   * Where a function of columns meets the condition.
   *
   * @param e
   *   the function
   * @param function
   *   its name as a column of its own
   */
  def onFunction(e: Expression, function: BoxColumn, condition: Condition): R = on(function, condition)

  /**
   * Where a test, taken for a column of its own, has a truth value; None where it is no such column. What is known of
   * its operands holds beside it.
   */
  def asColumn(test: Expression, truth: Boolean): Option[R] = None

  /** Whether nothing can be said of an expression, though it could be understood. */
  def unanswered(e: Expression): Boolean = false

  /** For an expression that is not understood, or not answered. */
  def unknown(e: Expression): R = all
}

package org.apache.spark.sql.zorder.skipping.predicate

import org.apache.spark.sql.catalyst.expressions.Expression
import sparkzorder.curve.cost.Condition

/** What a filter says of its one column, and whether all of it was understood. */
private[predicate] class OfColumn extends FilterSets[Condition] {
  var understood = true
  override def all: Condition = ConditionAlgebra.Anything
  override def none: Condition = Condition.Impossible
  override def and(left: Condition, right: => Condition): Condition = ConditionAlgebra.and(left, right)
  override def or(left: Condition, right: => Condition): Condition = ConditionAlgebra.or(left, right)
  override def on(column: FilterColumn, condition: Condition): Condition = condition
  override def unknown(e: Expression): Condition = {
    understood = false
    all
  }
  override def onFunction(e: Expression, function: FilterColumn, condition: Condition): Condition =
    MonotoneFunction.of(e).flatMap(_.where(condition)).getOrElse(unknown(e))
}

package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation, LogicalPlan}
import org.apache.spark.sql.zorder.shims.Shims

/**
 * Folds the constants of an analysed plan by Spark's own rules, so that literals mean the same as in a query.
 */
object Folding {
  def apply(plan: LogicalPlan): LogicalPlan =
    Seq(ComputeCurrentTime, ConstantFolding, UnwrapCastInBinaryComparison, ConstantFolding)
      .foldLeft(Shims.inlined(ReplaceExpressions(plan)))((p, rule) => rule(p))

  /**
   * A condition with what Spark infers before it asks files: of `a = 5 AND (a < 3 OR b = 1)`, Spark 4.1
   * leaves `a = 5 AND b = 1`. It is true for the same rows. For other rows it may be NULL where the first one
   * was false, or false where the first one was NULL.
   */
  def inferred(condition: Expression): Expression = {
    val filter: LogicalPlan = Filter(condition, LocalRelation(condition.references.toSeq))
    val rules = Seq(ConstantPropagation, ConstantFolding, BooleanSimplification)
    rules.foldLeft(filter)((p, rule) => rule(p)) match {
      case Filter(simpler, _) => simpler
      case _ => condition
    }
  }
}

package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.shims.Shims

/** Folds the constants of an analysed plan by Spark's own rules, so that literals mean the same as in a query. */
object Folding {
  def apply(plan: LogicalPlan): LogicalPlan =
    Seq(ComputeCurrentTime, ConstantFolding, UnwrapCastInBinaryComparison, ConstantFolding)
      .foldLeft(Shims.inlined(ReplaceExpressions(plan)))((p, rule) => rule(p))
}

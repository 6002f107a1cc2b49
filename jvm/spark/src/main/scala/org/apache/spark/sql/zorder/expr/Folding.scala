package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.optimizer._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.shims.Shims

/** Spark's own folding of an analysed plan, so that literals mean what they mean in a query. */
object Folding {
  def apply(plan: LogicalPlan): LogicalPlan =
    Seq(ComputeCurrentTime, ConstantFolding, UnwrapCastInBinaryComparison, ConstantFolding)
      .foldLeft(Shims.inlined(ReplaceExpressions(plan)))((p, rule) => rule(p))
}

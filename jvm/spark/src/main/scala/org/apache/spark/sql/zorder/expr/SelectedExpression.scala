package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.expressions.{Alias, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/** The expression of a query that selects one, without the name that Spark gives it. */
private[zorder] object SelectedExpression {

  /** None for an expression over several rows, such as a window: its plan has no projection on top. */
  def of(plan: LogicalPlan): Option[Expression] = plan match {
    case Project(Seq(Alias(child, _)), _) => Some(child)
    case Project(Seq(only), _) => Some(only)
    case _ => None
  }
}

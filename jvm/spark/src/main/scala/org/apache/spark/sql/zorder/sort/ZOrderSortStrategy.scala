package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.layout.ZOrderPages

/** Plans Spark's logical `Sort` as [[ZOrderSortExec]] if it sorts by a curve, as [[PageSortExec]] if by pages. */
object ZOrderSortStrategy extends SparkStrategy {

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case s: Sort if !s.global && s.order.lastOption.exists(_.child.isInstanceOf[ZOrderPages]) =>
      PageSortExec(s.order, planLater(s.child)) :: Nil
    case s: Sort
        if SessionKeys.SortEnabled.orDefault(plan.conf) && CurveOrder.of(s.order).isDefined =>
      ZOrderSortExec(s.order, s.global, planLater(s.child)) :: Nil
    case _ => Nil
  }
}

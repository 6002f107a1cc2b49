package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.expressions.{Expression, SortOrder}
import org.apache.spark.sql.zorder.expr.{HilbertOrder, ZOrder}
import org.apache.spark.sql.zorder.expr.layout.ZOrderKey

/**
 * The sort orders of a sort, split at the first curve: those before it, the curve, and those that break its ties.
 *
 * @param leading
 *   in most cases partition columns, or nothing
 * @param curve
 *   the sort order whose child is a curve key
 */
final case class CurveOrder(leading: Seq[SortOrder], curve: SortOrder, later: Seq[SortOrder])

object CurveOrder {

  /** None if Spark's own sort is as good: without a curve, or for a lone `zorder_key`, which is a plain BIGINT. */
  def of(order: Seq[SortOrder]): Option[CurveOrder] =
    order.indexWhere(o => isCurve(o.child)) match {
      case -1 => None
      case i =>
        order(i).child match {
          case _: ZOrderKey if order.length == 1 => None
          case _ => Some(CurveOrder(order.take(i), order(i), order.drop(i + 1)))
        }
    }

  private def isCurve(e: Expression): Boolean = e match {
    case _: ZOrder | _: HilbertOrder | _: ZOrderKey => true
    case _ => false
  }
}

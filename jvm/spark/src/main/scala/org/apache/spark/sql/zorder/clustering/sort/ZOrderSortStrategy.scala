package org.apache.spark.sql.zorder.clustering.sort

import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.{HilbertOrder, RowWords, ZOrder}
import org.apache.spark.sql.zorder.expr.layout.{ZOrderKey, ZOrderPages}
import sparkzorder.curve.prefix.KeyBits

/**
 * Plans Spark's logical `Sort` as [[ZOrderSortExec]] if it sorts by a curve, as [[PageSortExec]] if by pages.
 */
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

/**
 * The sort orders of a sort, split at the first curve: those before it, the curve, and those that break its
 * ties.
 *
 * @param leading
 *   in most cases partition columns, or nothing
 * @param curve
 *   the sort order whose child is a curve key
 */
final case class CurveOrder(leading: Seq[SortOrder], curve: SortOrder, later: Seq[SortOrder])

object CurveOrder {

  /** None if Spark's own sort is as good: without a curve, or for a lone `zorder_key`, a plain BIGINT. */
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

/**
 * A curve key as the sort uses it: the columns whose values become words, and the order of the bits of the
 * words on the curve.
 *
 * @param hilbert
 *   whether the words are those of the finished Hilbert key, and not of the columns
 */
final case class CurveKey(columns: Seq[Expression], hilbert: Boolean) {
  @transient lazy val words: RowWords = RowWords(columns.map(_.dataType))

  @transient lazy val bits: KeyBits =
    if (hilbert) KeyBits.sequence(words.columns * words.shape.levels) else KeyBits.interleaved(words.shape)

  def bound(input: Seq[Attribute]): CurveKey = copy(columns = BindReferences.bindReferences(columns, input))
}

object CurveKey {

  /** The key of `zorder`, `hilbert`, or any other ordered expression, which is a curve of one column. */
  def of(curve: Expression): CurveKey = curve match {
    case ZOrder(columns) => CurveKey(columns, hilbert = false)
    case HilbertOrder(columns) => CurveKey(columns, hilbert = columns.length > 1)
    case one => CurveKey(Seq(one), hilbert = false)
  }
}

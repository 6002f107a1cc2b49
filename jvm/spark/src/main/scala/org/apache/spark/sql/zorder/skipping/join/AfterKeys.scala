package org.apache.spark.sql.zorder.skipping.join

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{BinaryNode, LogicalPlan, Statistics}
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan, SparkStrategy}

/**
 * The rows of `left`, which adaptive execution begins to read only when `right` has been shuffled: it runs what is below
 * an exchange when all stages below have ended. It needs no row of `right`. Its shuffle is that of a join further up,
 * which Spark runs once for both.
 *
 * @param keys
 *   that `right` is shuffled by
 * @param kept
 *   the columns of `right`: all of them, or it would be another shuffle
 */
final case class AfterKeys(left: LogicalPlan, right: LogicalPlan, keys: Seq[Attribute], kept: Seq[Attribute])
    extends BinaryNode {
  override def output: Seq[Attribute] = left.output
  override def maxRows: Option[Long] = left.maxRows
  override def stats: Statistics = left.stats

  override protected def withNewChildrenInternal(newLeft: LogicalPlan, newRight: LogicalPlan): AfterKeys =
    copy(left = newLeft, right = newRight)
}

/** See [[AfterKeys]]. Spark puts the exchange above `right`; it is never asked for its rows. */
final case class AfterKeysExec(left: SparkPlan, right: SparkPlan, keys: Seq[Expression])
    extends BinaryExecNode {
  override def output: Seq[Attribute] = left.output
  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering
  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, ClusteredDistribution(keys))

  override protected def doExecute(): RDD[InternalRow] = left.execute()

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): AfterKeysExec =
    copy(left = newLeft, right = newRight)
}

object AfterKeysStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case AfterKeys(left, right, keys, _) => Seq(AfterKeysExec(planLater(left), planLater(right), keys))
    case _ => Nil
  }
}

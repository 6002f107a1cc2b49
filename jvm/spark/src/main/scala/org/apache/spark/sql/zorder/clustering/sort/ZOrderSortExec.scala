package org.apache.spark.sql.zorder.clustering.sort

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  OrderedDistribution,
  Partitioning,
  UnspecifiedDistribution
}
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}

/**
 * Sorts by a curve without building its key. The rows go into Spark's external sorter, whose radix sort uses
 * the first 64 varying bits of the key as prefix; they are computed from the row. A comparator generated for
 * the columns sorts rows with equal prefixes. No key column is built, shuffled or spilled.
 *
 * @param order
 *   the complete order of the sort; `CurveOrder.of` finds the curve in it
 * @param global
 *   whether the sort is global, or within each partition
 */
final case class ZOrderSortExec(order: Seq[SortOrder], global: Boolean, child: SparkPlan)
    extends UnaryExecNode {
  private def parts: CurveOrder = CurveOrder.of(order).get

  override def output: Seq[Attribute] = child.output

  override def outputOrdering: Seq[SortOrder] = order

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override def requiredChildDistribution: Seq[Distribution] =
    (if (global) OrderedDistribution(order) else UnspecifiedDistribution) :: Nil

  override lazy val metrics: Map[String, SQLMetric] = SortCosts.metrics(sparkContext) +
    ("widenings" -> SQLMetrics.createMetric(sparkContext, "prefix widenings"))

  override protected def doExecute(): RDD[InternalRow] = {
    val costs = SortCosts.of(this)
    val widenings = longMetric("widenings")
    val radix = conf.enableRadixSort
    child.execute().mapPartitionsInternal { rows =>
      val curve = parts
      val sorters = costs.sorters(child, schema, !curve.curve.isAscending, radix)
      val sorter = new CurveSorter(curve, child.output, sorters, () => widenings += 1)
      sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]])
    }
  }

  override def nodeName: String = "ZOrderSort"

  override def simpleString(maxFields: Int): String =
    s"$nodeName ${order.mkString("[", ", ", "]")}, $global, ${ZOrderSortExec.How}"

  override def verboseStringWithOperatorId(): String =
    s"""
      |$formattedNodeName
      |${ExplainUtils.generateFieldString("Input", child.output)}
      |Arguments: ${order.mkString("[", ", ", "]")}, $global
      |How: ${ZOrderSortExec.How}
      |""".stripMargin

  override protected def withNewChildInternal(newChild: SparkPlan): ZOrderSortExec = copy(child = newChild)
}

private object ZOrderSortExec {

  /** What EXPLAIN shows. */
  private val How = "no key column: sorted by 64 varying key bits, then by comparing columns"
}

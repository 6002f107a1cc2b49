package org.apache.spark.sql.zorder.clustering.sort

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, Expression, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Sort}
import org.apache.spark.sql.catalyst.plans.physical.{
  Distribution,
  OrderedDistribution,
  Partitioning,
  UnspecifiedDistribution
}
import org.apache.spark.sql.execution.{ExplainUtils, SparkPlan, SparkStrategy, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.{HilbertOrder, RowWords, ZOrder}
import org.apache.spark.sql.zorder.expr.layout.{ZOrderKey, ZOrderPages}
import sparkzorder.curve.prefix.KeyBits

/**
 * Sorts by a curve without building its key. The rows go into Spark's external sorter, whose radix sort uses the
 * first 64 varying bits of the key as prefix; they are computed from the row. A comparator generated for the columns
 * sorts rows with equal prefixes. No key column is built, shuffled or spilled.
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

  override lazy val metrics: Map[String, SQLMetric] = Map(
    "sortTime" -> SQLMetrics.createTimingMetric(sparkContext, "sort time"),
    "peakMemory" -> SQLMetrics.createSizeMetric(sparkContext, "peak memory"),
    "spillSize" -> SQLMetrics.createSizeMetric(sparkContext, "spill size"),
    "widenings" -> SQLMetrics.createMetric(sparkContext, "prefix widenings")
  )

  override protected def doExecute(): RDD[InternalRow] = {
    val sortTime = longMetric("sortTime")
    val peakMemory = longMetric("peakMemory")
    val spillSize = longMetric("spillSize")
    val widenings = longMetric("widenings")
    val radix = conf.enableRadixSort
    child.execute().mapPartitionsInternal { rows =>
      val task = TaskContext.get().taskMetrics()
      val spilledBefore = task.memoryBytesSpilled
      val curve = parts
      val sorters = new Sorters(child, schema, !curve.curve.isAscending, radix)
      // runs are sorted while rows are read, so the time is known at the end of the task
      TaskContext.get().addTaskCompletionListener[Unit] { _ =>
        sortTime += sorters.sortMillis
        peakMemory += sorters.peakBytes
        spillSize += task.memoryBytesSpilled - spilledBefore
        task.incPeakExecutionMemory(sorters.peakBytes)
      }
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

/**
 * A curve key as the sort uses it: the columns whose values become words, and the order of the bits of the words
 * on the curve.
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

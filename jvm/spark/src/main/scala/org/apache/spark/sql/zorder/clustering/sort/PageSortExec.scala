package org.apache.spark.sql.zorder.clustering.sort

import org.apache.spark.TaskContext
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, BindReferences, SortOrder, UnsafeRow}
import org.apache.spark.sql.catalyst.plans.physical.Partitioning
import org.apache.spark.sql.execution.{SparkPlan, UnaryExecNode}
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.zorder.expr.layout.{ZOrderKey, ZOrderPages}

/**
 * Orders the rows of each task, which writes one file, by the pages of that file ([[PageSorter]]).
 *
 * @param order
 *   partition columns, then a [[ZOrderPages]]
 */
final case class PageSortExec(order: Seq[SortOrder], child: SparkPlan) extends UnaryExecNode {
  override def output: Seq[Attribute] = child.output

  /** The order of rows by pages has no name, so only that of the partition columns is declared. */
  override def outputOrdering: Seq[SortOrder] = order.init

  override def outputPartitioning: Partitioning = child.outputPartitioning

  override lazy val metrics: Map[String, SQLMetric] = SortCosts.metrics(sparkContext) +
    ("byPages" -> SQLMetrics.createMetric(sparkContext, "files ordered by pages"))

  override protected def doExecute(): RDD[InternalRow] = {
    val costs = SortCosts.of(this)
    val byPages = longMetric("byPages")
    val radix = conf.enableRadixSort
    child.execute().mapPartitionsInternal { rows =>
      val task = TaskContext.get()
      val sorters = costs.sorters(child, schema, descending = false, radix)
      val pages = order.last.child.asInstanceOf[ZOrderPages]
      val sorter = new PageSorter(
        BindReferences.bindReference(pages.child, child.output).asInstanceOf[ZOrderKey],
        pages.cut,
        output.length,
        sorters,
        RankMemory.of(task),
        sorters.sortedBy(order, _),
        () => task.taskMetrics().memoryBytesSpilled)
      val sorted = sorter.sort(rows.asInstanceOf[Iterator[UnsafeRow]])
      if (sorter.byPages) byPages += 1
      sorted
    }
  }

  override def nodeName: String = "PageSort"

  override protected def withNewChildInternal(newChild: SparkPlan): PageSortExec = copy(child = newChild)
}

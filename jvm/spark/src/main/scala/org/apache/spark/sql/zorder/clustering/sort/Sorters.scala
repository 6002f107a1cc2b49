package org.apache.spark.sql.zorder.clustering.sort

import java.util.function.Supplier

import org.apache.spark.{SparkContext, SparkEnv, TaskContext}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{SortOrder, UnsafeRow}
import org.apache.spark.sql.execution.{SortExec, SparkPlan, UnsafeExternalRowSorter}
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.execution.metric.{SQLMetric, SQLMetrics}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/**
 * Makes Spark's sorters for one task and adds up their time and memory. They hold all rows except those of
 * short runs, so the rows can be spilled and count against the task's memory.
 *
 * @param child
 *   whose rows are sorted
 * @param descending
 *   the direction of the curve
 */
private[sort] class Sorters(child: SparkPlan, schema: StructType, descending: Boolean, radix: Boolean) {
  private val pageSize = SparkEnv.get.memoryManager.pageSizeBytes
  private val comparator =
    if (descending) PrefixComparators.BINARY_DESC else PrefixComparators.BINARY
  private var nanos = 0L

  /** Those that hold rows, and what is counted of their time: a task may make a hundred thousand. */
  private var alive = Map.empty[UnsafeExternalRowSorter, Long]
  private var peak = 0L

  /** Time spent in sorting, in ms. */
  def sortMillis: Long = nanos / 1000000

  /** The most memory that was held at one time, in bytes. */
  def peakBytes: Long = peak

  /** A sorter by an unsigned prefix only: rows with equal prefixes come out together. */
  def byPrefix(prefix: PrefixComputer): UnsafeExternalRowSorter = made(
    UnsafeExternalRowSorter.createWithRecordComparator(
      schema,
      Sorters.NoComparison,
      comparator,
      prefix,
      pageSize,
      radix))

  /** The rows sorted by ordinary sort orders, in Spark's own sorter. */
  def sortedBy(order: Seq[SortOrder], rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val sorter = made(SortExec(order, global = false, child).createSorter())
    rows.foreach(sorter.insertRow)
    sorted(sorter)
  }

  private def made(sorter: UnsafeExternalRowSorter): UnsafeExternalRowSorter = {
    alive += sorter -> 0L
    sorter
  }

  /** The sorted rows, also a second time; the sorter frees its memory after the last one. */
  def sorted(sorter: UnsafeExternalRowSorter): Iterator[UnsafeRow] = {
    val rows = sorter.sort().asInstanceOf[Iterator[UnsafeRow]]
    val spent = sorter.getSortTimeNanos
    nanos += spent - alive.getOrElse(sorter, spent)
    alive += sorter -> spent
    peak = math.max(peak, alive.keysIterator.map(_.getPeakMemoryUsage).sum)
    new Iterator[UnsafeRow] {
      override def hasNext: Boolean = {
        val more = rows.hasNext
        if (!more) alive -= sorter
        more
      }
      override def next(): UnsafeRow = rows.next()
    }
  }
}

private object Sorters {

  /** Treats all rows as equal: those with equal prefixes are sorted later. */
  private val NoComparison: Supplier[RecordComparator] = new Supplier[RecordComparator] {
    override def get(): RecordComparator = new RecordComparator {
      override def compare(a: Object, aAt: Long, aSize: Int, b: Object, bAt: Long, bSize: Int): Int = 0
    }
  }
}

/** Adds up what the sorts of an operator cost. Spark shows it with the operator. */
final private[sort] class SortCosts(sortTime: SQLMetric, peakMemory: SQLMetric, spillSize: SQLMetric)
    extends Serializable {

  /** The sorters of the running task. Runs are sorted while rows are read, so costs are known at its end. */
  def sorters(child: SparkPlan, schema: StructType, descending: Boolean, radix: Boolean): Sorters = {
    val task = TaskContext.get()
    val metrics = task.taskMetrics()
    val spilledBefore = metrics.memoryBytesSpilled
    val sorters = new Sorters(child, schema, descending, radix)
    task.addTaskCompletionListener[Unit] { _ =>
      sortTime += sorters.sortMillis
      peakMemory += sorters.peakBytes
      spillSize += metrics.memoryBytesSpilled - spilledBefore
      metrics.incPeakExecutionMemory(sorters.peakBytes)
    }
    sorters
  }
}

private[sort] object SortCosts {

  /** The metrics of an operator that sorts. */
  def metrics(context: SparkContext): Map[String, SQLMetric] = Map(
    "sortTime" -> SQLMetrics.createTimingMetric(context, "sort time"),
    "peakMemory" -> SQLMetrics.createSizeMetric(context, "peak memory"),
    "spillSize" -> SQLMetrics.createSizeMetric(context, "spill size"))

  /** @param operator has these metrics */
  def of(operator: SparkPlan): SortCosts = new SortCosts(
    operator.longMetric("sortTime"),
    operator.longMetric("peakMemory"),
    operator.longMetric("spillSize"))
}

/** The prefix of the row that is inserted next, which was computed before. */
final private class NextPrefix extends PrefixComputer {
  private val prefix = new PrefixComputer.Prefix
  def set(value: Long): Unit = prefix.value = value
  override def computePrefix(row: InternalRow): PrefixComputer.Prefix = prefix
}

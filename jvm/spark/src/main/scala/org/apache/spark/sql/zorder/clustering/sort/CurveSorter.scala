package org.apache.spark.sql.zorder.clustering.sort

import java.util.Comparator
import java.util.function.Supplier

import org.apache.spark.SparkEnv
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, SortOrder, UnsafeRow}
import org.apache.spark.sql.execution.{SortExec, SparkPlan, UnsafeExternalRowSorter}
import org.apache.spark.sql.types.StructType
import org.apache.spark.util.collection.unsafe.sort.{PrefixComparators, RecordComparator}

/**
 * Sorts the rows of one task: by the leading orders, then by the curve, then by the later orders. The leading
 * orders are in most cases partition columns. If they have one value in the task, they cost nothing.
 *
 * @param input
 *   the columns of the rows
 * @param widened
 *   called when a later row makes the prefix wider
 */
final private[sort] class CurveSorter(
    order: CurveOrder,
    input: Seq[Attribute],
    sorters: Sorters,
    widened: () => Unit) {
  private val key = CurveKey.of(order.curve.child).bound(input)
  private val keys = RowKeys.of(key)
  private lazy val leading = RowOrdering.create(order.leading, input)

  private val inLeading: Comparator[UnsafeRow] = {
    val sign = if (order.curve.isAscending) 1 else -1
    val later = RowOrdering.create(order.later, input)
    new Comparator[UnsafeRow] {
      override def compare(a: UnsafeRow, b: UnsafeRow): Int = {
        val byCurve = keys.compare(a, b)
        if (byCurve != 0) sign * byCurve else later.compare(a, b)
      }
    }
  }

  private val byLater: Option[Iterator[UnsafeRow] => Iterator[UnsafeRow]] =
    if (order.later.isEmpty) None else Some(bySpark(order.later, _))

  def sort(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] =
    if (!rows.hasNext) Iterator.empty
    else if (order.leading.isEmpty) byCurve(rows)
    else byLeading(rows)

  private def keySorter(): KeySorter =
    new KeySorter(keys, key.bits, 0, sorters, inLeading, byLater, widened)

  private def byCurve(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val sorter = keySorter()
    rows.foreach(sorter.insert)
    sorter.sorted()
  }

  /** Sorts by the curve alone as long as all rows are equal by the leading orders. */
  private def byLeading(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val sorter = keySorter()
    val first = rows.next().copy()
    sorter.insert(first)
    while (rows.hasNext) {
      val row = rows.next()
      if (leading.compare(first, row) == 0) sorter.insert(row)
      else {
        // this row first: it belongs to the child, which reuses it for the next row
        val all = Iterator.single(row) ++ sorter.heldRows() ++ rows
        return new Runs(bySpark(order.leading, all), new LeadingBorder, inLeading, byCurve)
      }
    }
    sorter.sorted()
  }

  private def bySpark(order: Seq[SortOrder], rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val sorter = sorters.by(order)
    rows.foreach(sorter.insertRow)
    sorters.sorted(sorter)
  }

  private class LeadingBorder extends RunBorder {
    private var first: InternalRow = _

    override def isBefore(row: UnsafeRow): Boolean = {
      val another = first == null || leading.compare(first, row) != 0
      if (another) first = row.copy()
      another
    }
  }
}

/**
 * Makes Spark's sorters for one task and adds up their time and memory. They hold all rows except those of short
 * runs, so the rows can be spilled and count against the task's memory.
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
  private var nanos = Map.empty[UnsafeExternalRowSorter, Long]
  private var alive = Set.empty[UnsafeExternalRowSorter]
  private var peak = 0L

  /** Time spent in sorting, in ms. */
  def sortMillis: Long = nanos.values.sum / 1000000

  /** The most memory that was held at one time, in bytes. */
  def peakBytes: Long = peak

  /** A sorter by an unsigned prefix only: rows with equal prefixes come out together. */
  def byPrefix(prefix: UnsafeExternalRowSorter.PrefixComputer): UnsafeExternalRowSorter = made(
    UnsafeExternalRowSorter.createWithRecordComparator(
      schema,
      Sorters.NoComparison,
      comparator,
      prefix,
      pageSize,
      radix))

  /** Spark's own sorter by ordinary sort orders. */
  def by(order: Seq[SortOrder]): UnsafeExternalRowSorter =
    made(SortExec(order, global = false, child).createSorter())

  private def made(sorter: UnsafeExternalRowSorter): UnsafeExternalRowSorter = {
    alive += sorter
    sorter
  }

  /** The sorted rows, also a second time; the sorter frees its memory after the last one. */
  def sorted(sorter: UnsafeExternalRowSorter): Iterator[UnsafeRow] = {
    val rows = sorter.sort().asInstanceOf[Iterator[UnsafeRow]]
    nanos += sorter -> sorter.getSortTimeNanos
    peak = math.max(peak, alive.iterator.map(_.getPeakMemoryUsage).sum)
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

package org.apache.spark.sql.zorder.clustering.sort

import java.util.Comparator

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Attribute, RowOrdering, UnsafeRow}

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
    if (order.later.isEmpty) None else Some(sorters.sortedBy(order.later, _))

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
        return new Runs(sorters.sortedBy(order.leading, all), new LeadingBorder, inLeading, byCurve)
      }
    }
    sorter.sorted()
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

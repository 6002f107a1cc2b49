package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.zorder.expr.layout.{PageCut, RankOf, ZOrderKey}
import sparkzorder.curve.layout.{CompiledLayout, PageSides}
import sparkzorder.curve.page.PageTree

/**
 * Sorts the rows of one task, which are those of one file, by pages (ADR 0043): first by their key, as any sort would;
 * then, if all are in memory, by a tree of cuts whose leaves are the pages. Rows that do not fit the memory, or whose
 * pages are not known beforehand, stay in the order of their keys.
 *
 * @param key
 *   bound to the rows
 * @param bySpark
 *   sorts rows that turn out to be of several partitions of the table, by all orders
 * @param spilled
 *   bytes that the task has spilled so far
 */
final private[sort] class PageSorter(
    key: ZOrderKey,
    cut: PageCut,
    fields: Int,
    sorters: Sorters,
    memory: RankMemory,
    bySpark: Iterator[UnsafeRow] => Iterator[UnsafeRow],
    spilled: () => Long) {
  private val spilledBefore = spilled()
  private val computer = new CurrentPrefix
  private val sorter: UnsafeExternalRowSorter = sorters.byPrefix(computer)

  /** Whether the rows came out by pages; known when `sort` has returned. */
  var byPages: Boolean = false

  def sort(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
    val placed = UnsafeProjection.create(Seq(key, key.route.getOrElse(Literal(0))))
    var n = 0L
    var route = 0
    var least = Long.MaxValue
    var greatest = 0L
    while (rows.hasNext) {
      val row = rows.next()
      val place = placed(row)
      val its = place.getInt(1)
      if (n == 0) route = its
      else if (its != route)
        return bySpark(Iterator.single(row) ++ sorters.sorted(sorter) ++ rows)
      computer.now.value = place.getLong(0)
      least = math.min(least, computer.now.value)
      greatest = math.max(greatest, computer.now.value)
      sorter.insertRow(row)
      n += 1
    }
    if (n <= cut.pageRows || n > math.min(cut.mostRows, PageSorter.MostRows)) sorters.sorted(sorter)
    else {
      val layout = key.routes.compiled(route)
      val oneFile = layout.fileOfKey(least) == layout.fileOfKey(greatest)
      if (oneFile) paged(n.toInt, layout) else sorters.sorted(sorter)
    }
  }

  private def paged(n: Int, layout: CompiledLayout): Iterator[UnsafeRow] =
    layout.pageSides match {
      case Some(sides)
          if inMemory && memory.acquired(n * (PageSorter.BytesPerRow + 4L * key.columns.length)) =>
        // the sorter frees its memory with its last row: this one is last, and is taken when all others are read
        computer.now.value = PageSorter.Last
        sorter.insertRow(PageSorter.emptyRow(fields))
        val sorted = sorters.sorted(sorter)
        byPages = inMemory
        if (byPages) byTree(sorted, n, layout, sides)
        else {
          memory.release()
          new FirstRows(sorted, n)
        }
      case _ => sorters.sorted(sorter)
    }

  private def inMemory: Boolean = spilled() == spilledBefore

  private def byTree(
      sorted: Iterator[UnsafeRow],
      n: Int,
      layout: CompiledLayout,
      sides: PageSides): Iterator[UnsafeRow] = {
    val ranked = UnsafeProjection.create(key.columns.zipWithIndex.map { case (c, i) => RankOf(c, layout, i) })
    val ranks = Array.fill(key.columns.length)(new Array[Int](n))
    val held = new HeldRows(n, fields)
    var i = 0
    while (i < n) {
      val row = sorted.next()
      held.put(i, row)
      val each = ranked(row)
      var c = 0
      while (c < ranks.length) {
        ranks(c)(i) = each.getInt(c)
        c += 1
      }
      i += 1
    }
    val order = Array.range(0, n)
    PageTree.arrange(order, 0, n, ranks, sides, cut.pageRows.toDouble)
    new InOrder(held, order, sorted)
  }

  /** Reads held rows in an order; afterwards takes the last row of the sorter, which frees them. */
  private class InOrder(held: HeldRows, order: Array[Int], sorted: Iterator[UnsafeRow])
      extends Iterator[UnsafeRow] {
    private var at = 0

    override def hasNext: Boolean = {
      val more = at < order.length
      if (!more) end()
      more
    }

    override def next(): UnsafeRow = {
      // nobody else in the task should ask for memory; if it were taken from these rows, they would be lost
      if (!inMemory)
        throw new IllegalStateException(
          "Rows were spilled while a file was written by pages; nothing was committed. " +
            "Set spark.zorder.pages.enabled to false and run the statement again.")
      at += 1
      held(order(at - 1))
    }

    private def end(): Unit = if (sorted.hasNext) {
      sorted.next()
      memory.release()
    }
  }

  /** The prefix of the row that is being inserted, which was computed before. */
  private class CurrentPrefix extends PrefixComputer {
    val now = new PrefixComputer.Prefix
    override def computePrefix(row: InternalRow): PrefixComputer.Prefix = now
  }
}

/** The first rows of an iterator, which is read to its end when they have been read. */
final private class FirstRows(rows: Iterator[UnsafeRow], n: Int) extends Iterator[UnsafeRow] {
  private var at = 0

  override def hasNext: Boolean = {
    if (at == n) rows.foreach(_ => ())
    at < n
  }

  override def next(): UnsafeRow = {
    at += 1
    rows.next()
  }
}

private object PageSorter {

  /** Larger arrays are not made. */
  private val MostRows = 1L << 30

  /** Above every key, as unsigned numbers are compared. */
  private val Last = -1L

  private def emptyRow(fields: Int): UnsafeRow =
    UnsafeRow.createFromByteArray(UnsafeRow.calculateBitSetWidthInBytes(fields) + 8 * fields, fields)

  /** Address, order and the selection's own array; ranks come on top. */
  private val BytesPerRow = HeldRows.BytesPerRow + 8L
}

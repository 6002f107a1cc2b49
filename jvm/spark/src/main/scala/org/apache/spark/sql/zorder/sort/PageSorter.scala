package org.apache.spark.sql.zorder.sort

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.execution.UnsafeExternalRowSorter.PrefixComputer
import org.apache.spark.sql.zorder.expr.layout.{RankOf, ZOrderKey}
import sparkzorder.curve.layout.{CompiledLayout, PageSides}
import sparkzorder.curve.page.PageCut

/**
 * Sorts the rows of one task, which are those of one file, by pages (ADR 0043). Where a row belongs is known when all
 * have come, so they are held as they come, with their ranks beside them. Then they are read from the memory in their
 * order or, if some were spilled, sorted by their places.
 *
 * @param key
 *   bound to the rows
 * @param bySpark
 *   sorts by all orders: rows that turn out to be of several partitions of the table, or more than can be ranked
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
  private val routeOf = UnsafeProjection.create(Seq(key.route.getOrElse(Literal(0))))

  /** Whether the rows came out by pages; known when `sort` has returned. */
  var byPages: Boolean = false

  def sort(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] =
    if (!rows.hasNext) Iterator.empty
    else {
      val first = rows.next()
      val route = routeOf(first).getInt(0)
      val layout = key.routes.compiled(route)
      val all = Iterator.single(first) ++ rows
      // the rows of a layout without pages of its own are in the order of their keys
      layout.pageSides.fold(bySpark(all))(new OfOneRoute(route, layout, _).sort(all))
    }

  /** Rows of one partition of the table. */
  private class OfOneRoute(route: Int, layout: CompiledLayout, sides: PageSides) {
    private val next = new NextPrefix
    private val held: UnsafeExternalRowSorter = sorters.byPrefix(next)
    private val ranked = new RankedRows(layout, key.columns.length, memory)

    def sort(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
      val ranks = UnsafeProjection.create(
        key.route.getOrElse(Literal(0)) +: key.columns.zipWithIndex.map { case (c, i) =>
          RankOf(c, layout, i)
        })
      while (rows.hasNext) {
        val row = rows.next()
        val its = ranks(row)
        if (its.getInt(0) != route || !ranked.add(its, from = 1))
          return byOrders(Iterator.single(row) ++ sorters.sorted(held) ++ rows)
        next.set(ranked.count - 1L)
        held.insertRow(row)
      }
      if (memory.acquired(ranked.count * (RankedRows.OrderBytes + HeldRows.BytesPerRow))) inOrder(order)
      else byOrders(sorters.sorted(held))
    }

    private def byOrders(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
      memory.release()
      bySpark(rows)
    }

    private def order: Array[Int] = {
      val n = ranked.count
      byPages = n > cut.pageRows && cut.foresees(n.toDouble)
      if (byPages) ranked.byPages(cut, sides) else ranked.byCurve
    }

    private def inOrder(order: Array[Int]): Iterator[UnsafeRow] =
      if (!inMemory) byPlace(sorters.sorted(held), order)
      else {
        // the sorter frees its memory with its last row: this one is last, and is taken when all others are read
        next.set(PageSorter.Last)
        held.insertRow(PageSorter.emptyRow(fields))
        val rows = sorters.sorted(held)
        if (inMemory) new InOrder(where(rows, order.length), order, rows)
        else byPlace(new FirstRows(rows, order.length), order)
      }

    /** Sorts the rows once more, which come in their first order. */
    private def byPlace(rows: Iterator[UnsafeRow], order: Array[Int]): Iterator[UnsafeRow] = {
      val places = new Array[Int](order.length)
      for (place <- order.indices) places(order(place)) = place
      val place = new NextPrefix
      val sorter = sorters.byPrefix(place)
      var i = 0
      while (rows.hasNext) {
        place.set(places(i).toLong)
        sorter.insertRow(rows.next())
        i += 1
      }
      memory.release()
      sorters.sorted(sorter)
    }
  }

  private def inMemory: Boolean = spilled() == spilledBefore

  private def where(rows: Iterator[UnsafeRow], n: Int): HeldRows = {
    val held = new HeldRows(n, fields)
    var i = 0
    while (i < n) {
      held.put(i, rows.next())
      i += 1
    }
    held
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
}

/** The prefix of the row that is inserted next, which was computed before. */
final private class NextPrefix extends PrefixComputer {
  private val prefix = new PrefixComputer.Prefix
  def set(value: Long): Unit = prefix.value = value
  override def computePrefix(row: InternalRow): PrefixComputer.Prefix = prefix
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

  /** Above every place, as unsigned numbers are compared. */
  private val Last = -1L

  private def emptyRow(fields: Int): UnsafeRow =
    UnsafeRow.createFromByteArray(UnsafeRow.calculateBitSetWidthInBytes(fields) + 8 * fields, fields)
}

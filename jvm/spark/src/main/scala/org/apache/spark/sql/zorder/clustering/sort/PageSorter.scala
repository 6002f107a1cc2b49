package org.apache.spark.sql.zorder.clustering.sort

import java.util.IdentityHashMap

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.memory.SparkOutOfMemoryError
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.execution.UnsafeExternalRowSorter
import org.apache.spark.sql.zorder.expr.layout.{RankOf, ZOrderKey}
import org.apache.spark.unsafe.Platform
import sparkzorder.curve.layout.{CompiledLayout, PageSides}
import sparkzorder.curve.page.PageCut

/**
 * Sorts the rows of one task, which are those of one file, by pages (ADR 43). Where a row belongs is known
 * when all have come, so they are held as they come, with their ranks beside them. Then they are read from
 * the memory in their order or, if some were spilled, sorted by their places.
 *
 * @param key
 *   bound to the rows
 * @param bySpark
 *   sorts by all orders: rows that turn out to be of several partitions of the table, that cannot be ranked
 *   in the memory that the task may have, or that Spark's sorter does not return as they came
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
  private val lastRow = new LastRow(fields)

  /** Whether the rows came out by pages; known when `sort` has returned. */
  var byPages: Boolean = false

  def sort(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] =
    if (!rows.hasNext) Iterator.empty
    else {
      val first = rows.next()
      val route = routeOf(first).getInt(0)
      val layout = key.layouts.compiled(route)
      val all = Iterator.single(first) ++ rows
      // the rows of a layout without pages of its own are in the order of their keys
      layout.pageSides.fold(bySpark(all))(new PartitionRows(route, layout, _).sort(all))
    }

  /** Rows of one partition of the table. */
  private class PartitionRows(route: Int, layout: CompiledLayout, sides: PageSides) {
    private val next = new NextPrefix
    private val held: UnsafeExternalRowSorter = sorters.byPrefix(next)

    def sort(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
      val ranked = new RankedRows(layout, key.columns.length, memory)
      val ranks = UnsafeProjection.create(
        key.route.getOrElse(Literal(0)) +: key.columns.zipWithIndex.map { case (c, i) =>
          RankOf(c, layout, i)
        })
      while (rows.hasNext) {
        val row = rows.next()
        val its = ranks(row)
        if (its.getInt(0) != route || !ranked.add(its, from = 1) || !holds(row, ranked.count - 1L))
          return byOrders(Iterator.single(row) ++ sorters.sorted(held) ++ rows)
      }
      if (memory.acquired(ranked.count * (RankedRows.OrderBytes + HeldRows.BytesPerRow)))
        inOrder(order(ranked))
      else byOrders(sorters.sorted(held))
    }

    /** Holds a row after all earlier ones; false if the memory for it is taken by ranks. */
    private def holds(row: UnsafeRow, number: Long): Boolean = {
      next.set(number)
      try {
        held.insertRow(row)
        true
      } catch { case _: SparkOutOfMemoryError => false }
    }

    private def byOrders(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = {
      byPages = false
      memory.release()
      bySpark(rows)
    }

    private def order(ranked: RankedRows): Array[Int] = {
      val n = ranked.count
      byPages = n > cut.pageRows && cut.foresees(n.toDouble)
      if (byPages) ranked.byPages(cut, sides) else ranked.byCurve
    }

    private def inOrder(order: Array[Int]): Iterator[UnsafeRow] =
      // the sorter frees its memory with its last row: this one is last, and is taken when all others are
      // read
      if (inMemory && !holds(lastRow.row, PageSorter.Last)) byOrders(sorters.sorted(held))
      else {
        val rows = sorters.sorted(held)
        if (!inMemory) byPlace(lastRow.without(rows), order)
        else {
          val (where, isWhole) = located(rows, order.length)
          // the same rows once more, to be spilled if somebody else in the task asks for their memory
          val again = lastRow.without(sorters.sorted(held))
          if (isWhole) {
            memory.keep(order.length * (4L + HeldRows.BytesPerRow))
            new RowsInOrder(where, order, rows, byPlace(again, order))
          } else byOrders(again)
        }
      }

    /** Where all rows but the last one lie, and whether they are those that were held, as they came. */
    private def located(rows: Iterator[UnsafeRow], n: Int): (HeldRows, Boolean) = {
      val where = new HeldRows(n, fields)
      var whole = true
      var i = 0
      while (i < n) {
        val row = rows.next()
        where.put(i, row)
        whole &= !lastRow.is(row)
        i += 1
      }
      (where, whole && where.asTheyCame)
    }

    /** Sorts the rows once more, which come in their first order. */
    private def byPlace(rows: Iterator[UnsafeRow], order: Array[Int]): Iterator[UnsafeRow] = {
      val places = new Array[Int](order.length)
      for (place <- order.indices) places(order(place)) = place
      memory.keep(4L * order.length)
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

  /**
   * Reads held rows in an order; afterwards takes the last row of the sorter, which frees them. If somebody
   * else in the task has asked for their memory, the rest of them comes from the disk.
   */
  private class RowsInOrder(
      held: HeldRows,
      order: Array[Int],
      sorted: Iterator[UnsafeRow],
      byPlace: => Iterator[UnsafeRow])
      extends Iterator[UnsafeRow] {
    private var at = 0
    private var fromDisk: Option[Iterator[UnsafeRow]] = None

    override def hasNext: Boolean = {
      val more = at < order.length
      if (!more) end()
      more
    }

    override def next(): UnsafeRow = {
      if (fromDisk.isEmpty && !inMemory) fromDisk = Some(byPlace.drop(at))
      at += 1
      fromDisk.fold(held(order(at - 1)))(_.next())
    }

    private def end(): Unit = {
      if (fromDisk.isEmpty && inMemory && sorted.hasNext) sorted.next()
      fromDisk.foreach(_.hasNext)
      memory.release()
    }
  }
}

/** One row more than there are, which is told apart by bytes after its fields. */
final private class LastRow(fields: Int) {
  private val size = UnsafeRow.calculateBitSetWidthInBytes(fields) + 8 * fields
  val row: UnsafeRow = UnsafeRow.createFromByteArray(size + 8, fields)
  (0 until fields).foreach(row.setNullAt)
  Platform.putLong(row.getBaseObject, row.getBaseOffset + size, PageSorter.Last)

  /** No row of NULLs has so many bytes. */
  def is(other: UnsafeRow): Boolean = other.getSizeInBytes == size + 8 && other == row

  def without(rows: Iterator[UnsafeRow]): Iterator[UnsafeRow] = rows.filterNot(is)
}

private object PageSorter {

  /** Above every place, as unsigned numbers are compared. */
  val Last = -1L
}

/**
 * Where rows lie in memory that a sorter holds, so that they can be read in another order. An address is the
 * number of a memory page and a place in it.
 */
final private class HeldRows(rows: Int, fields: Int) {
  private[this] val addresses = new Array[Long](rows)
  private[this] val sizes = new Array[Int](rows)
  private[this] val bases = ArrayBuffer.empty[AnyRef]
  private[this] val numbers = new IdentityHashMap[AnyRef, Integer]
  private[this] val row = new UnsafeRow(fields)
  private[this] var bytes = new Array[Byte](HeldRows.FirstBytes)
  private[this] var ascending = true

  /**
   * Whether the rows were noted as the sorter got them, as far as addresses tell: it fills one page after
   * another. Pages outside of the Java heap cannot be told apart.
   */
  def asTheyCame: Boolean = ascending

  /** Notes where row `i` is. */
  def put(i: Int, at: UnsafeRow): Unit = {
    if (i > 0 && at.getBaseObject != null) ascending &= isBehind(i - 1, at)
    addresses(i) = (numberOf(at.getBaseObject).toLong << HeldRows.OffsetBits) | at.getBaseOffset
    sizes(i) = at.getSizeInBytes
  }

  private def isBehind(i: Int, at: UnsafeRow): Boolean = {
    val same = bases((addresses(i) >>> HeldRows.OffsetBits).toInt) eq at.getBaseObject
    if (same) at.getBaseOffset > (addresses(i) & HeldRows.OffsetMask)
    else !numbers.containsKey(at.getBaseObject)
  }

  private def numberOf(base: AnyRef): Int = {
    val known = numbers.get(base)
    if (known != null) known
    else {
      bases += base
      numbers.put(base, bases.length - 1)
      bases.length - 1
    }
  }

  /** A copy of row `i`, valid until the next call: its memory may be taken while somebody works with it. */
  def apply(i: Int): UnsafeRow = {
    val address = addresses(i)
    val size = sizes(i)
    if (size > bytes.length) bytes = new Array[Byte](math.max(size, 2 * bytes.length))
    Platform.copyMemory(
      bases((address >>> HeldRows.OffsetBits).toInt),
      address & HeldRows.OffsetMask,
      bytes,
      Platform.BYTE_ARRAY_OFFSET.toLong,
      size.toLong)
    row.pointTo(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, size)
    row
  }
}

private object HeldRows {

  /** A user's address has 47 bits, and a task has 8,192 pages of memory at most. */
  private val OffsetBits = 48
  private val OffsetMask = (1L << OffsetBits) - 1

  private val FirstBytes = 4096

  /** Bytes that a row takes here. */
  val BytesPerRow = 12
}

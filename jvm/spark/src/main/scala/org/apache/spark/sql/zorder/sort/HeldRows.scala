package org.apache.spark.sql.zorder.sort

import java.util.IdentityHashMap

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow

/**
 * Where rows lie in memory that a sorter holds, so that they can be read in another order without a copy. An address
 * is the number of a memory page and a place in it.
 */
final private[sort] class HeldRows(rows: Int, fields: Int) {
  private[this] val addresses = new Array[Long](rows)
  private[this] val sizes = new Array[Int](rows)
  private[this] val bases = ArrayBuffer.empty[AnyRef]
  private[this] val numbers = new IdentityHashMap[AnyRef, Integer]
  private[this] val row = new UnsafeRow(fields)

  /** Notes where row `i` is. */
  def put(i: Int, at: UnsafeRow): Unit = {
    addresses(i) = (numberOf(at.getBaseObject).toLong << HeldRows.OffsetBits) | at.getBaseOffset
    sizes(i) = at.getSizeInBytes
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

  /** Row `i`, valid until the next call. */
  def apply(i: Int): UnsafeRow = {
    val address = addresses(i)
    row.pointTo(
      bases((address >>> HeldRows.OffsetBits).toInt),
      address & HeldRows.OffsetMask,
      sizes(i))
    row
  }
}

private[sort] object HeldRows {

  /** A user's address has 47 bits, and a task has 8,192 pages of memory at most. */
  private val OffsetBits = 48
  private val OffsetMask = (1L << OffsetBits) - 1

  /** Bytes that a row takes here. */
  val BytesPerRow = 12
}

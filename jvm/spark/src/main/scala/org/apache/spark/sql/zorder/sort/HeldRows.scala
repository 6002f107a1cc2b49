package org.apache.spark.sql.zorder.sort

import java.util.IdentityHashMap

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/**
 * Where rows lie in memory that a sorter holds, so that they can be read in another order. An address is the number of
 * a memory page and a place in it.
 */
final private[sort] class HeldRows(rows: Int, fields: Int) {
  private[this] val addresses = new Array[Long](rows)
  private[this] val sizes = new Array[Int](rows)
  private[this] val bases = ArrayBuffer.empty[AnyRef]
  private[this] val numbers = new IdentityHashMap[AnyRef, Integer]
  private[this] val row = new UnsafeRow(fields)
  private[this] var bytes = new Array[Byte](HeldRows.FirstBytes)
  private[this] var ascending = true

  /**
   * Whether the rows were noted as the sorter got them, as far as addresses tell: it fills one page after another. Pages
   * outside of the Java heap cannot be told apart.
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

private[sort] object HeldRows {

  /** A user's address has 47 bits, and a task has 8,192 pages of memory at most. */
  private val OffsetBits = 48
  private val OffsetMask = (1L << OffsetBits) - 1

  private val FirstBytes = 4096

  /** Bytes that a row takes here. */
  val BytesPerRow = 12
}

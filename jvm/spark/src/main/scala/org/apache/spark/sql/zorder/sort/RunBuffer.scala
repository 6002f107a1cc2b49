package org.apache.spark.sql.zorder.sort

import java.util.{Arrays, Comparator}

import org.apache.spark.sql.catalyst.expressions.UnsafeRow
import org.apache.spark.unsafe.Platform

/** Copies of a few rows in memory that is reused; `Rows` and `Bytes` below limit it. */
final private[sort] class RunBuffer {
  private val rows = new Array[UnsafeRow](RunBuffer.Rows)
  private var bytes = new Array[Byte](RunBuffer.FirstBytes)
  private var used = 0
  private var count = 0

  def length: Int = count

  /** Row `i`, valid until the buffer is cleared. */
  def apply(i: Int): UnsafeRow = rows(i)

  def iterator: Iterator[UnsafeRow] = Iterator.range(0, count).map(apply)

  def clear(): Unit = {
    used = 0
    count = 0
  }

  /** Clears the buffer and adds a row of any size. */
  def start(row: UnsafeRow): Unit = {
    clear()
    if (!add(row)) {
      rows(0) = row.copy()
      count = 1
    }
  }

  /** Copies a row to the end; false if there is no room. */
  def add(row: UnsafeRow): Boolean = {
    val size = row.getSizeInBytes
    if (count == RunBuffer.Rows || used + size > RunBuffer.Bytes) false
    else {
      if (used + size > bytes.length) grow(used + size)
      row.writeToMemory(bytes, Platform.BYTE_ARRAY_OFFSET + used.toLong)
      if (rows(count) == null || rows(count).numFields != row.numFields)
        rows(count) = new UnsafeRow(row.numFields)
      rows(count).pointTo(bytes, Platform.BYTE_ARRAY_OFFSET + used.toLong, size)
      used += size
      count += 1
      true
    }
  }

  private def grow(atLeast: Int): Unit = {
    val larger = Arrays.copyOf(bytes, math.min(RunBuffer.Bytes, math.max(atLeast, 2 * bytes.length)))
    var i = 0
    while (i < count) {
      if (rows(i).getBaseObject eq bytes)
        rows(i).pointTo(larger, rows(i).getBaseOffset, rows(i).getSizeInBytes)
      i += 1
    }
    bytes = larger
  }

  /** Sorts the rows; the sort is stable. */
  def sort(order: Comparator[UnsafeRow]): Unit = if (count > 1) Arrays.sort(rows, 0, count, order)
}

private object RunBuffer {

  /** A longer run needs its own sorter, which takes a page of memory and time to set up. */
  val Rows = 1024
  val Bytes: Int = 1 << 20
  val FirstBytes: Int = 1 << 12
}

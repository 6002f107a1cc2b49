package org.apache.spark.sql.zorder.skip.index

import scala.annotation.tailrec

/**
 * Finds places in an ascending array of values. A grid of equal cells between its ends says where a cell's values
 * begin, so that a look-up among thousands of values spread evenly takes a step or two; those of a crowded cell are
 * halved as ever.
 */
final class AscendingLongs(values: Array[Long]) {
  private val count = values.length

  /** A cell holds `1 << shift` numbers; the span between the ends is an unsigned number. */
  private val shift: Int = if (count == 0) 0
  else {
    val bitsOfSpan = 64 - java.lang.Long.numberOfLeadingZeros(values(count - 1) - values(0))
    val bitsOfCells = 32 - Integer.numberOfLeadingZeros(count)
    math.max(0, bitsOfSpan - bitsOfCells)
  }

  /** The place of the first value of each cell or a later one; the last entry ends the last cell. */
  private val starts: Array[Int] = if (count == 0) Array.empty[Int]
  else {
    val first = new Array[Int](cell(values(count - 1)) + 2)
    values.foreach(v => first(cell(v) + 1) += 1)
    first.indices.tail.foreach(c => first(c) += first(c - 1))
    first
  }

  private def cell(value: Long): Int = ((value - values(0)) >>> shift).toInt

  /** The place of the first value that is at least `value`; their count where none is. */
  def firstAtLeast(value: Long): Int =
    if (count == 0 || value <= values(0)) 0
    else if (value > values(count - 1)) count
    else {
      val c = cell(value)
      firstAtLeast(value, starts(c), starts(c + 1))
    }

  /**
   * As `SortedWords.firstThat`, but without a function: among numbers the call of one takes as long as all the rest.
   * Not Java's binary search, which may find any of equal values.
   */
  @tailrec private def firstAtLeast(value: Long, from: Int, until: Int): Int =
    if (from >= until) from
    else {
      val middle = (from + until) >>> 1
      if (values(middle) < value) firstAtLeast(value, middle + 1, until)
      else firstAtLeast(value, from, middle)
    }
}

package org.apache.spark.sql.zorder.skip.index

import java.util.BitSet

import org.apache.spark.sql.types.DataType
import sparkzorder.curve.cost.Condition

/**
 * What the index knows of one column (or clustering expression), file by file, in primitive arrays: a filter is
 * evaluated over all files at once on the driver.
 *
 * The rule that nothing here may break: a file is [[ColumnRanges.Bounded]] only if every row group that holds a
 * value has a range, and [[ColumnRanges.OnlyNulls]] only if every row group holds nothing but NULL. Anything else
 * is [[ColumnRanges.Unknown]], and unknown never prunes.
 *
 * @param states
 *   per file `Unknown`, `OnlyNulls` or `Bounded`
 * @param nulls
 *   per file the number of NULLs, -1 where it is not known
 * @param offsets
 *   the ranges of file f are those from `offsets(f)` until `offsets(f + 1)`, ascending and disjoint
 */
final class ColumnRanges(
    val dataType: DataType,
    val states: Array[Byte],
    val nulls: Array[Long],
    val offsets: Array[Int],
    val words: WordRanges) {

  def files: Int = states.length

  /** The files that may hold a row whose value meets the condition. */
  def mayMeet(condition: Condition): BitSet = {
    val found = new BitSet(files)
    val test = words.test(condition)
    var f = 0
    while (f < files) {
      val meets = states(f) match {
        case ColumnRanges.Bounded =>
          condition.orNull && nulls(f) != 0 || test.meetsAny(offsets(f), offsets(f + 1))
        case ColumnRanges.OnlyNulls => condition.orNull
        // values may be anything, but of NULLs the count may tell
        case _ => condition.intervals.nonEmpty || nulls(f) != 0
      }
      if (meets) found.set(f)
      f += 1
    }
    found
  }

  /** How many files have single values in place of ranges. */
  def filesOfValues: Long = (0 until files).count { f =>
    states(f) == ColumnRanges.Bounded &&
    (offsets(f) until offsets(f + 1)).forall(r => words.min(r).compare(words.max(r)) == 0)
  }.toLong

  /** The same with one range a file, from its first range to its last one: what a set of ranges adds is told by it. */
  def hulls: ColumnRanges = {
    val bounded = (0 until files).filter(f => offsets(f) < offsets(f + 1))
    val firsts = bounded.map(offsets(_)).toArray
    val lasts = bounded.map(f => offsets(f + 1) - 1).toArray
    val ends = (0 until files).scanLeft(0)((n, f) => if (offsets(f) < offsets(f + 1)) n + 1 else n)
    new ColumnRanges(dataType, states, nulls, ends.toArray, words.spanning(firsts, lasts))
  }
}

object ColumnRanges {

  /** Nothing is known of the file's values. */
  val Unknown: Byte = 0

  /** Every row of the file has NULL. */
  val OnlyNulls: Byte = 1

  /** Every value that is not NULL lies in one of the file's ranges. */
  val Bounded: Byte = 2
}

package org.apache.spark.sql.zorder.skipping.index

import java.util.BitSet

import scala.annotation.tailrec

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.stats.ParquetZones
import sparkzorder.curve.{BelowBytes, NormalizedBytes, NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Condition, SortedValues}

/**
 * What the index knows of one column (or clustering expression), file by file, in primitive arrays: a filter
 * is evaluated over all files at once on the driver.
 *
 * The rule that nothing here may break: a file is [[ColumnRanges.Bounded]] only if every row group that holds
 * a value has a range, and [[ColumnRanges.OnlyNulls]] only if every row group holds nothing but NULL.
 * Anything else is [[ColumnRanges.Unknown]], and unknown never prunes.
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
    val bounds: NormalizedRanges) {

  def files: Int = states.length

  /** The least value that a file which has ranges may hold. */
  def least(file: Int): NormalizedValue = bounds.min(offsets(file))

  /** The greatest value that a file which has ranges may hold. */
  def greatest(file: Int): NormalizedValue = bounds.max(offsets(file + 1) - 1)

  /** The files that may hold a row whose value meets the condition. */
  def mayMeet(condition: Condition): BitSet = {
    val found = new BitSet(files)
    val test = bounds.test(condition)
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

  /** The memory that the arrays take, about. */
  def bytes: Long = files * 13L + (0 until bounds.length).iterator.map { r =>
    Seq(bounds.min(r), bounds.max(r)).map {
      case NormalizedBytes(value) => value.length + 24L
      case _ => java.lang.Long.BYTES.toLong
    }.sum
  }.sum

  /** How many files have single values in place of ranges. */
  def filesOfValues: Long = (0 until files).count { f =>
    states(f) == ColumnRanges.Bounded &&
    (offsets(f) until offsets(f + 1)).forall(r => bounds.min(r).compare(bounds.max(r)) == 0)
  }.toLong

  /** One range for each file, from its first range to its last. It shows what a set of ranges adds. */
  def hulls: ColumnRanges = {
    val bounded = (0 until files).filter(f => offsets(f) < offsets(f + 1))
    val firsts = bounded.map(offsets(_)).toArray
    val lasts = bounded.map(f => offsets(f + 1) - 1).toArray
    val ends = (0 until files).scanLeft(0)((n, f) => if (offsets(f) < offsets(f + 1)) n + 1 else n)
    new ColumnRanges(dataType, states, nulls, ends.toArray, bounds.spanning(firsts, lasts))
  }
}

object ColumnRanges {

  /**
   * Counts of NULLs as far as they hold for queries: values of unknown files may be NULL there
   * ([[ParquetZones.mayNullify]]).
   */
  def believed(dataType: DataType, states: Array[Byte], nulls: Array[Long]): Array[Long] =
    if (!ParquetZones.mayNullify(dataType)) nulls
    else Array.tabulate(nulls.length)(f => if (states(f) == Unknown) -1L else nulls(f))

  /** Nothing is known of the file's values. */
  val Unknown: Byte = 0

  /** Every row of the file has NULL. */
  val OnlyNulls: Byte = 1

  /** Every value that is not NULL lies in one of the file's ranges. */
  val Bounded: Byte = 2
}

/** Ranges of normalized values, those of all files one after the other. */
sealed trait NormalizedRanges {
  def length: Int

  def min(range: Int): NormalizedValue

  def max(range: Int): NormalizedValue

  /** A condition made ready to be tested against these ranges. */
  def test(condition: Condition): RangeTest

  /** Ranges from the least value of one of these to the greatest of another. */
  def spanning(firsts: Array[Int], lasts: Array[Int]): NormalizedRanges
}

/** Whether ranges meet a condition's intervals. */
trait RangeTest {

  /** Whether one of the ranges `from` until `until`, which ascend, meets one of the intervals. */
  def meetsAny(from: Int, until: Int): Boolean
}

/** A column without a range in any file, whatever its type. */
case object NoRanges extends NormalizedRanges {
  override def length: Int = 0
  override def min(range: Int): NormalizedValue = throw new NoSuchElementException("no range")
  override def max(range: Int): NormalizedValue = throw new NoSuchElementException("no range")
  override def test(condition: Condition): RangeTest = (_, _) => false
  override def spanning(firsts: Array[Int], lasts: Array[Int]): NormalizedRanges = this
}

/**
 * Ranges of 64-bit numbers, as dates, timestamps, booleans, short decimals and floats are too, in their
 * order.
 */
final case class LongRanges(mins: Array[Long], maxs: Array[Long]) extends NormalizedRanges {
  override def length: Int = mins.length
  override def min(range: Int): NormalizedValue = NormalizedLong(mins(range))
  override def max(range: Int): NormalizedValue = NormalizedLong(maxs(range))
  override def spanning(firsts: Array[Int], lasts: Array[Int]): NormalizedRanges =
    LongRanges(firsts.map(mins(_)), lasts.map(maxs(_)))

  override def test(condition: Condition): RangeTest = {
    val lows = condition.intervals.map(i => LongRanges.bound(i.min, Long.MinValue)).toArray
    val highs = condition.intervals.map(i => LongRanges.bound(i.max, Long.MaxValue)).toArray
    val ends = new AscendingLongs(highs)
    (from, until) => {
      // both ascend: the first interval that does not end before a range begins is the only one to look at
      var r = from
      var i = 0
      var met = false
      while (!met && r < until && i < lows.length) {
        if (highs(i) < mins(r)) i = ends.firstAtLeast(mins(r))
        else if (lows(i) <= maxs(r)) met = true
        else r += 1
      }
      met
    }
  }
}

object LongRanges {

  private[index] def bound(normalized: Option[NormalizedValue], open: Long): Long = normalized match {
    case Some(NormalizedLong(value)) => value
    case Some(_) =>
      throw new IllegalArgumentException("a number is not compared with a byte string")
    case None => open
  }
}

/** Ranges of byte strings: strings, binary and long decimals, in unsigned order. */
final case class BytesRanges(mins: Array[Array[Byte]], maxs: Array[Array[Byte]]) extends NormalizedRanges {
  override def length: Int = mins.length
  override def min(range: Int): NormalizedValue = NormalizedBytes(mins(range))
  override def max(range: Int): NormalizedValue = NormalizedBytes(maxs(range))
  override def spanning(firsts: Array[Int], lasts: Array[Int]): NormalizedRanges =
    BytesRanges(firsts.map(mins(_)), lasts.map(maxs(_)))

  override def test(condition: Condition): RangeTest = {
    val lows = condition.intervals.map(i => BytesRanges.bound(i.min)).toArray
    val highs = condition.intervals.map(i => BytesRanges.bound(i.max)).toArray
    // 1 where the end itself is outside
    val open = condition.intervals.map(i => if (i.max.exists(_.isInstanceOf[BelowBytes])) 1 else 0).toArray
    def endsBelow(interval: Int, value: Array[Byte]): Boolean =
      highs(interval) != null && NormalizedBytes.compareBytes(highs(interval), value) < open(interval)
    (from, until) => {
      var r = from
      var i = 0
      var met = false
      while (!met && r < until && i < lows.length) {
        if (endsBelow(i, mins(r)))
          i = SortedValues.firstThat(i + 1, highs.length)(k => !endsBelow(k, mins(r)))
        else if (lows(i) == null || NormalizedBytes.compareBytes(lows(i), maxs(r)) <= 0) met = true
        else r += 1
      }
      met
    }
  }
}

object BytesRanges {

  /** null where the interval goes on for ever. */
  private[index] def bound(normalized: Option[NormalizedValue]): Array[Byte] = normalized match {
    case Some(NormalizedBytes(bytes)) => bytes
    case Some(BelowBytes(bytes)) => bytes
    case Some(_: NormalizedLong) =>
      throw new IllegalArgumentException("a byte string is not compared with a number")
    case None => null
  }
}

/**
 * Finds places in an ascending array of values. A grid of equal cells between its ends says where a cell's
 * values begin, so that a look-up among thousands of values spread evenly takes a step or two; in a crowded
 * cell the value is found by halving.
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
   * As `SortedValues.firstThat`, but without a function: among numbers the call of one takes as long as all
   * the rest. Not Java's binary search, which may find any of equal values.
   */
  @tailrec private def firstAtLeast(value: Long, from: Int, until: Int): Int =
    if (from >= until) from
    else {
      val middle = (from + until) >>> 1
      if (values(middle) < value) firstAtLeast(value, middle + 1, until)
      else firstAtLeast(value, from, middle)
    }
}

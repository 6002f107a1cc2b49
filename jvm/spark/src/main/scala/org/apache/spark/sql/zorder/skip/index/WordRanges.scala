package org.apache.spark.sql.zorder.skip.index

import sparkzorder.curve.{BelowBytes, BytesWord, LongWord, Word}
import sparkzorder.curve.cost.{Condition, SortedWords}

/** Ranges of words, those of all files one after the other. */
sealed trait WordRanges {
  def length: Int

  def min(range: Int): Word

  def max(range: Int): Word

  /** A condition made ready to be tested against these ranges. */
  def test(condition: Condition): RangeTest

  /** Ranges from the least value of one of these to the greatest of another. */
  def spanning(firsts: Array[Int], lasts: Array[Int]): WordRanges
}

/** Whether ranges meet a condition's intervals. */
trait RangeTest {

  /** Whether one of the ranges `from` until `until`, which ascend, meets one of the intervals. */
  def meetsAny(from: Int, until: Int): Boolean
}

/** Of a column that no file has a range of, whatever its type. */
case object NoRanges extends WordRanges {
  override def length: Int = 0
  override def min(range: Int): Word = throw new NoSuchElementException("no range")
  override def max(range: Int): Word = throw new NoSuchElementException("no range")
  override def test(condition: Condition): RangeTest = (_, _) => false
  override def spanning(firsts: Array[Int], lasts: Array[Int]): WordRanges = this
}

/** Ranges of 64-bit words: numbers, dates, timestamps, booleans, short decimals, floats by their order. */
final case class LongRanges(mins: Array[Long], maxs: Array[Long]) extends WordRanges {
  override def length: Int = mins.length
  override def min(range: Int): Word = LongWord(mins(range))
  override def max(range: Int): Word = LongWord(maxs(range))
  override def spanning(firsts: Array[Int], lasts: Array[Int]): WordRanges =
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

  private[index] def bound(word: Option[Word], open: Long): Long = word match {
    case Some(LongWord(value)) => value
    case Some(_) =>
      throw new IllegalArgumentException("a number is not compared with a byte string")
    case None => open
  }
}

/** Ranges of byte strings: strings, binary and long decimals, in unsigned order. */
final case class BytesRanges(mins: Array[Array[Byte]], maxs: Array[Array[Byte]]) extends WordRanges {
  override def length: Int = mins.length
  override def min(range: Int): Word = BytesWord(mins(range))
  override def max(range: Int): Word = BytesWord(maxs(range))
  override def spanning(firsts: Array[Int], lasts: Array[Int]): WordRanges =
    BytesRanges(firsts.map(mins(_)), lasts.map(maxs(_)))

  override def test(condition: Condition): RangeTest = {
    val lows = condition.intervals.map(i => BytesRanges.bound(i.min)).toArray
    val highs = condition.intervals.map(i => BytesRanges.bound(i.max)).toArray
    // 1 where the end itself is outside
    val open = condition.intervals.map(i => if (i.max.exists(_.isInstanceOf[BelowBytes])) 1 else 0).toArray
    def endsBelow(interval: Int, value: Array[Byte]): Boolean =
      highs(interval) != null && BytesWord.compareBytes(highs(interval), value) < open(interval)
    (from, until) => {
      var r = from
      var i = 0
      var met = false
      while (!met && r < until && i < lows.length) {
        if (endsBelow(i, mins(r)))
          i = SortedWords.firstThat(i + 1, highs.length)(k => !endsBelow(k, mins(r)))
        else if (lows(i) == null || BytesWord.compareBytes(lows(i), maxs(r)) <= 0) met = true
        else r += 1
      }
      met
    }
  }
}

object BytesRanges {

  /** null where the interval goes on for ever. */
  private[index] def bound(word: Option[Word]): Array[Byte] = word match {
    case Some(BytesWord(bytes)) => bytes
    case Some(BelowBytes(bytes)) => bytes
    case Some(_: LongWord) =>
      throw new IllegalArgumentException("a byte string is not compared with a number")
    case None => null
  }
}

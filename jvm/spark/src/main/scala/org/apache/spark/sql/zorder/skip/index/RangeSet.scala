package org.apache.spark.sql.zorder.skip.index

import org.apache.spark.sql.zorder.stats.Dictionaries
import sparkzorder.curve.{BytesWord, LongWord, Word, Zone}

/**
 * What is known of one column of one file: the zone of the whole, and its values' ranges where it has some. A range may
 * be a single value.
 */
final case class RangeSet(state: Byte, ranges: IndexedSeq[(Word, Word)]) {

  /**
   * Single values in place of the ranges: those of `values` that lie in the ranges. The same ranges where these are too
   * many or too long, or where they cannot be all: an end of a range of numbers is a value of a row.
   *
   * @param values
   *   all that the file has, ascending, and perhaps others
   */
  def only(values: IndexedSeq[Word]): RangeSet = {
    val inside = values.filter(v => ranges.exists { case (low, high) => low <= v && v <= high })
    val whole = inside.nonEmpty && ((inside.head, inside.last) match {
      case (_: LongWord, _) => inside.head == ranges.head._1 && inside.last == ranges.last._2
      case _ => true
    })
    val fits = inside.length <= RangeSet.MostValues && inside.map(RangeSet.bytes).sum <= RangeSet.MostBytes
    if (state == ColumnRanges.Bounded && whole && fits) copy(ranges = inside.map(v => (v, v))) else this
  }
}

/**
 * Few disjoint ranges that hold every value of a file, from the ranges of its pages or row groups: one value far
 * from the others, such as -1 or 9999-12-31, must not spoil the range of the whole file.
 */
object RangeSet {

  /** More ranges cost memory and gain little. */
  val Most = 8

  /** As many values as are told of a file, and as many bytes of text. */
  val MostValues: Int = Dictionaries.MostValues
  val MostBytes = 2048

  private def bytes(word: Word): Int = word match {
    case BytesWord(bytes) => bytes.length
    case _ => java.lang.Long.BYTES
  }

  val Unknown: RangeSet = RangeSet(ColumnRanges.Unknown, IndexedSeq.empty)
  val OnlyNulls: RangeSet = RangeSet(ColumnRanges.OnlyNulls, IndexedSeq.empty)

  /** Of a file without rows, none of which can be missed. */
  private val NoRows = OnlyNulls

  /**
   * @param zones
   *   of parts that together hold every row of the file
   */
  def of(zones: Seq[Zone]): RangeSet =
    if (zones.isEmpty) NoRows
    else if (zones.contains(Zone.Unknown)) Unknown
    else {
      val ranges = zones.collect { case Zone.Between(min, max) => (min, max) }
      if (ranges.isEmpty) OnlyNulls
      else RangeSet(ColumnRanges.Bounded, fewest(joined(ranges.sortWith(_._1 < _._1))))
    }

  /** Ranges that touch or overlap are one. */
  private def joined(ascending: Seq[(Word, Word)]): Vector[(Word, Word)] =
    ascending.foldLeft(Vector.empty[(Word, Word)]) { (done, next) =>
      done.lastOption match {
        case Some((min, max)) if next._1 <= max => done.init :+ ((min, if (next._2 > max) next._2 else max))
        case _ => done :+ next
      }
    }

  /** Keeps the widest gaps. */
  private def fewest(ranges: Vector[(Word, Word)]): Vector[(Word, Word)] =
    if (ranges.length <= Most) ranges
    else {
      val gaps =
        ranges.indices.init.sortBy(i => -distance(ranges(i)._2, ranges(i + 1)._1)).take(Most - 1).sorted
      val starts = 0 +: gaps.map(_ + 1)
      val ends = gaps :+ (ranges.length - 1)
      starts.zip(ends).map { case (a, b) => (ranges(a)._1, ranges(b)._2) }.toVector
    }

  /** How far apart two words are; of byte strings, by the eight bytes from the first one that differs on. */
  private def distance(low: Word, high: Word): Double = (low, high) match {
    case (LongWord(a), LongWord(b)) => b.toDouble - a.toDouble
    case (BytesWord(a), BytesWord(b)) =>
      val same = a.indices.find(i => i >= b.length || a(i) != b(i)).getOrElse(a.length)
      // a difference in an early byte is a larger one
      (number(b, same) - number(a, same)) * math.pow(256.0, -same.toDouble)
    case _ => 0.0
  }

  private def number(bytes: Array[Byte], from: Int): Double =
    (0 until 8).foldLeft(0.0)((n, i) => n * 256 + bytes.lift(from + i).fold(0)(_ & 0xff))
}

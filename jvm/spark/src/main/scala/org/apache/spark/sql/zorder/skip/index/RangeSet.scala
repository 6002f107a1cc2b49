package org.apache.spark.sql.zorder.skip.index

import sparkzorder.curve.{BytesWord, LongWord, Word, Zone}

/** What is known of one column of one file: the zone of the whole, and its values' ranges where it has some. */
final case class RangeSet(state: Byte, ranges: IndexedSeq[(Word, Word)])

/**
 * Few disjoint ranges that hold every value of a file, from the ranges of its pages or row groups: one value far
 * from the others, such as -1 or 9999-12-31, must not spoil the range of the whole file.
 */
object RangeSet {

  /** More ranges cost memory and gain little. */
  val Most = 8

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

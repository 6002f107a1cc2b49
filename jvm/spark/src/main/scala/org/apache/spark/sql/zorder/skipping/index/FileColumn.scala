package org.apache.spark.sql.zorder.skipping.index

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.stats.Dictionaries
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue, Zone}

/** What the index says of one column of one file. */
final private[skipping] case class FileColumn(set: RangeSet, nulls: Long)

private[skipping] object FileColumn {
  val Unknown: FileColumn = FileColumn(RangeSet.Unknown, -1L)

  /** All files' values between two ends. */
  def between(min: NormalizedValue, max: NormalizedValue, nulls: Long): FileColumn =
    FileColumn(RangeSet(ColumnRanges.Bounded, IndexedSeq((min, max))), nulls)

  def onlyNulls(nulls: Long): FileColumn = FileColumn(RangeSet.OnlyNulls, nulls)

  /** The column of the file of that number. */
  def at(r: ColumnRanges, number: Int): FileColumn = {
    val ranges = (r.offsets(number) until r.offsets(number + 1)).map(i => (r.bounds.min(i), r.bounds.max(i)))
    FileColumn(RangeSet(r.states(number), ranges), r.nulls(number))
  }

  /** The column in all files, one after the other. */
  def ranges(dataType: DataType, files: IndexedSeq[FileColumn]): ColumnRanges = {
    val ranges = files.flatMap(_.set.ranges)
    val bounds = ranges.headOption match {
      case None => NoRanges
      case Some((_: NormalizedBytes, _)) => BytesRanges(
          ranges.map(_._1.asInstanceOf[NormalizedBytes].bytes).toArray,
          ranges.map(_._2.asInstanceOf[NormalizedBytes].bytes).toArray)
      case Some(_) => LongRanges(
          ranges.map(_._1.asInstanceOf[NormalizedLong].value).toArray,
          ranges.map(_._2.asInstanceOf[NormalizedLong].value).toArray)
    }
    new ColumnRanges(
      dataType,
      files.map(_.set.state).toArray,
      files.map(_.nulls).toArray,
      files.scanLeft(0)(_ + _.set.ranges.length).toArray,
      bounds)
  }
}

/**
 * What is known of one column of one file: the zone of the whole, and its values' ranges where it has some. A
 * range may be a single value.
 */
final private[skipping] case class RangeSet(
    state: Byte,
    ranges: IndexedSeq[(NormalizedValue, NormalizedValue)]) {

  /**
   * Single values in place of the ranges: those of `values` that lie in the ranges. The same ranges where
   * these are too many or too long, or where they cannot be all: an end of a range of numbers is a value of a
   * row.
   *
   * @param values
   *   all that the file has, ascending, and perhaps others
   */
  def only(values: IndexedSeq[NormalizedValue]): RangeSet = {
    val inside = values.filter(v => ranges.exists { case (low, high) => low <= v && v <= high })
    val whole = inside.nonEmpty && ((inside.head, inside.last) match {
      case (_: NormalizedLong, _) => inside.head == ranges.head._1 && inside.last == ranges.last._2
      case _ => true
    })
    val fits = inside.length <= RangeSet.MostValues && inside.map(RangeSet.bytes).sum <= RangeSet.MostBytes
    if (state == ColumnRanges.Bounded && whole && fits) copy(ranges = inside.map(v => (v, v))) else this
  }
}

/**
 * Few disjoint ranges that hold every value of a file, from the ranges of its pages or row groups: one value
 * far from the others, such as -1 or 9999-12-31, must not spoil the range of the whole file.
 */
private[skipping] object RangeSet {

  /** More ranges cost memory and gain little. */
  val Most = 8

  /** Most values that the index lists for a file; also most bytes of text. */
  val MostValues: Int = Dictionaries.MostValues
  val MostBytes = 2048

  private def bytes(normalized: NormalizedValue): Int = normalized match {
    case NormalizedBytes(bytes) => bytes.length
    case _ => java.lang.Long.BYTES
  }

  val Unknown: RangeSet = RangeSet(ColumnRanges.Unknown, IndexedSeq.empty)
  val OnlyNulls: RangeSet = RangeSet(ColumnRanges.OnlyNulls, IndexedSeq.empty)

  /** The range of a file without rows: nothing can be missed there. */
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
  private def joined(ascending: Seq[(NormalizedValue, NormalizedValue)])
      : Vector[(NormalizedValue, NormalizedValue)] =
    ascending.foldLeft(Vector.empty[(NormalizedValue, NormalizedValue)]) { (done, next) =>
      done.lastOption match {
        case Some((min, max)) if next._1 <= max => done.init :+ ((min, if (next._2 > max) next._2 else max))
        case _ => done :+ next
      }
    }

  /** Keeps the widest gaps. */
  private def fewest(ranges: Vector[(NormalizedValue, NormalizedValue)])
      : Vector[(NormalizedValue, NormalizedValue)] =
    if (ranges.length <= Most) ranges
    else {
      val gaps =
        ranges.indices.init.sortBy(i => -distance(ranges(i)._2, ranges(i + 1)._1)).take(Most - 1).sorted
      val starts = 0 +: gaps.map(_ + 1)
      val ends = gaps :+ (ranges.length - 1)
      starts.zip(ends).map { case (a, b) => (ranges(a)._1, ranges(b)._2) }.toVector
    }

  /** How far apart two values are; of byte strings, by the eight bytes from the first one that differs on. */
  private def distance(low: NormalizedValue, high: NormalizedValue): Double = (low, high) match {
    case (NormalizedLong(a), NormalizedLong(b)) => b.toDouble - a.toDouble
    case (NormalizedBytes(a), NormalizedBytes(b)) =>
      val same = a.indices.find(i => i >= b.length || a(i) != b(i)).getOrElse(a.length)
      // a difference in an early byte is a larger one
      (number(b, same) - number(a, same)) * math.pow(256.0, -same.toDouble)
    case _ => 0.0
  }

  private def number(bytes: Array[Byte], from: Int): Double =
    (0 until 8).foldLeft(0.0)((n, i) => n * 256 + bytes.lift(from + i).fold(0)(_ & 0xff))
}

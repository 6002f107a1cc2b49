package org.apache.spark.sql.zorder.stats.measure

import org.apache.spark.sql.types.{DataType, DoubleType, FloatType}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue, Zone}

/**
 * The zones of one column of some blocks in ranks: the places of their bounds among the scale's bounds. What a zone
 * means is in docs/spec.md, section 8.
 *
 * @param low
 *   rank of each block's lower bound; -1 for an unknown zone and for one of only NULL
 */
final private[zorder] class RankedColumn(
    val scale: RankScale,
    val low: Array[Int],
    val high: Array[Int],
    private val unknown: java.util.BitSet) {

  def blocks: Int = low.length

  /** The values of the block are known to lie between its bounds. */
  def isKnown(block: Int): Boolean = low(block) >= 0

  def isUnknown(block: Int): Boolean = unknown.get(block)

  def isOnlyNull(block: Int): Boolean = !isKnown(block) && !isUnknown(block)

  /** One value, or none. */
  def isConstant(block: Int): Boolean = !isUnknown(block) && low(block) == high(block)

  /** From where to where the block reaches, in positions: everything if unknown. */
  def lowPosition(block: Int): Int = math.max(0, 2 * low(block))

  def highPosition(block: Int): Int =
    if (isKnown(block)) 2 * high(block) else math.max(0, scale.positions - 1)

  def middle(block: Int): Int = scale.middle(lowPosition(block), highPosition(block))
}

private[zorder] object RankedColumn {

  /** The zones in the ranks of a scale that has all their bounds. */
  def of(zones: IndexedSeq[Zone], scale: RankScale): RankedColumn = {
    val low = Array.fill(zones.length)(-1)
    val high = Array.fill(zones.length)(-1)
    val unknown = new java.util.BitSet(zones.length)
    var i = 0
    while (i < zones.length) {
      zones(i) match {
        case Zone.Unknown => unknown.set(i)
        case Zone.OnlyNulls =>
        case Zone.Between(min, max) =>
          low(i) = scale.rank(min)
          high(i) = if (min == max) low(i) else scale.rank(max)
      }
      i += 1
    }
    new RankedColumn(scale, low, high, unknown)
  }

  /** A column of whole numbers or byte strings, ranked among its own bounds. */
  def of(zones: IndexedSeq[Zone]): RankedColumn = of(zones, RankScale.of(zones, Spacing.Whole))
}

/**
 * The distinct bounds of zones, ascending, and the positions where a value may lie: position 2r is the bound of rank r,
 * and 2r + 1 is everything between it and the next one (docs/spec.md, section 8).
 */
sealed private[zorder] trait RankScale {

  /** Number of bounds. */
  def size: Int

  /** The place of a bound that is there. */
  def rank(normalized: NormalizedValue): Int

  /** The number of values from the least bound to the greatest, both included; None for byte strings. */
  def span: Option[Double]

  /** The distance from one bound to a higher one, on a scale on which values are evenly apart. */
  protected def distance(from: Int, to: Int): Double

  /** Number of positions. */
  final def positions: Int = math.max(0, 2 * size - 1)

  /** How much of the values a position stands for. */
  lazy val widths: Array[Double] = {
    val out = new Array[Double](positions)
    var r = 0
    while (r < size) {
      out(2 * r) = 1.0
      if (r + 1 < size) out(2 * r + 1) = math.max(0.0, distance(r, r + 1) - 1.0)
      r += 1
    }
    out
  }

  /** Sums of the widths before each position. */
  lazy val until: Array[Double] = widths.scanLeft(0.0)(_ + _)

  /** The number of values from one bound to another, both included. */
  final def width(low: Int, high: Int): Double = math.max(1.0, distance(low, high) + 1.0)

  /** The position at which half of what lies from one position to another is reached. */
  final def middle(low: Int, high: Int): Int =
    if (low == high) low
    else {
      val half = (until(high + 1) - until(low)) / 2
      var from = low
      var to = high
      while (from < to) {
        val p = (from + to) >>> 1
        if (until(p + 1) - until(low) >= half) to = p else from = p + 1
      }
      from
    }
}

private[zorder] object RankScale {

  /** Positions of fractions and of byte strings on a scale of so many whole numbers. */
  private val Bytes = 6
  private val Grid = math.pow(2, 8.0 * Bytes)

  /** @param zones of one column */
  def of(zones: IndexedSeq[Zone], spacing: Spacing): RankScale = {
    val bounds = zones.iterator.flatMap {
      case Zone.Between(min, max) => Iterator(min, max)
      case _ => Iterator.empty
    }
    if (!bounds.hasNext) new Numbers(Array.emptyLongArray, spacing)
    else bounds.next() match {
      case NormalizedLong(first) => new Numbers(distinct(Iterator(first) ++ bounds.map(number)), spacing)
      case first => new Strings(distinctBytes((Iterator(first) ++ bounds).map(bytes)))
    }
  }

  private def number(normalized: NormalizedValue): Long = normalized match {
    case NormalizedLong(v) => v
    case _ => throw new IllegalArgumentException("the values of a column are of one kind")
  }

  private def bytes(normalized: NormalizedValue): Array[Byte] = normalized match {
    case NormalizedBytes(b) => b
    case _ => throw new IllegalArgumentException("the values of a column are of one kind")
  }

  private def distinct(values: Iterator[Long]): Array[Long] = {
    val all = values.toArray
    java.util.Arrays.sort(all)
    var n = 0
    var i = 0
    while (i < all.length) {
      if (n == 0 || all(i) != all(n - 1)) {
        all(n) = all(i)
        n += 1
      }
      i += 1
    }
    java.util.Arrays.copyOf(all, n)
  }

  private def distinctBytes(values: Iterator[Array[Byte]]): Array[Array[Byte]] = {
    val all = values.toArray
    val order = NormalizedBytes.order
    java.util.Arrays.sort(all, order)
    all.indices.filter(i => i == 0 || order.compare(all(i - 1), all(i)) != 0).map(all(_)).toArray
  }

  final private class Numbers(values: Array[Long], spacing: Spacing) extends RankScale {
    override def size: Int = values.length
    override def span: Option[Double] = if (size == 0) None else Some(apart(0, size - 1) + 1.0)
    override def rank(normalized: NormalizedValue): Int =
      java.util.Arrays.binarySearch(values, number(normalized))

    override protected def distance(from: Int, to: Int): Double = reals.fold(apart(from, to)) { all =>
      (spacing.value(values(to)).get - spacing.value(values(from)).get) / all * Grid
    }

    /** The distance from the least value to the greatest one. */
    private lazy val reals: Option[Double] =
      for {
        last <- values.lastOption
        least <- spacing.value(values(0))
        greatest <- spacing.value(last)
        all = greatest - least
        if all > 0.0 && !all.isInfinite && !all.isNaN
      } yield all

    /** Between two values; it may be more than a signed number holds. */
    private def apart(from: Int, to: Int): Double = {
      val d = values(to) - values(from)
      if (d >= 0) d.toDouble else (d >>> 1).toDouble * 2.0
    }
  }

  final private class Strings(values: Array[Array[Byte]]) extends RankScale {
    override def size: Int = values.length
    override def span: Option[Double] = None
    override def rank(normalized: NormalizedValue): Int =
      java.util.Arrays.binarySearch(values, bytes(normalized), NormalizedBytes.order)

    override protected def distance(from: Int, to: Int): Double = place(to) - place(from)

    private def place(rank: Int): Double = {
      val string = values(rank)
      (prefix until prefix + Bytes).foldLeft(0L)((n, i) =>
        n << 8 | (if (i < string.length) string(i) & 0xffL else 0L)).toDouble
    }

    private lazy val prefix: Int = {
      val (first, last) = (values.head, values.last)
      val most = math.min(first.length, last.length)
      (0 until most).find(i => first(i) != last(i)).getOrElse(most)
    }
  }
}

/** How far apart values of a column are: what their numbers mean. */
sealed private[zorder] trait Spacing {

  /** The value that a normalized value stands for, where its own number does not grow as the value does. */
  def value(normalized: Long): Option[Double]
}

private[zorder] object Spacing {

  /** Numbers as they are, and byte strings. */
  case object Whole extends Spacing {
    override def value(normalized: Long): Option[Double] = None
  }

  case object OfFloat extends Spacing {
    override def value(normalized: Long): Option[Double] = {
      val bits = normalized.toInt
      Some(java.lang.Float.intBitsToFloat(bits ^ ((bits >> 31) & Int.MaxValue)).toDouble)
    }
  }

  case object OfDouble extends Spacing {
    override def value(normalized: Long): Option[Double] =
      Some(java.lang.Double.longBitsToDouble(normalized ^ ((normalized >> 63) & Long.MaxValue)))
  }

  def of(dataType: DataType): Spacing = dataType match {
    case FloatType => OfFloat
    case DoubleType => OfDouble
    case _ => Whole
  }
}

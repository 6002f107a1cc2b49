package org.apache.spark.sql.zorder.audit.measure

import sparkzorder.curve.{BytesWord, LongWord, Word, Zone}

/**
 * The zones of one column of some blocks in ranks: the places of their bounds among the scale's bounds. What a zone
 * means is in docs/spec.md, section 8.
 *
 * @param low
 *   rank of each block's lower bound; -1 for an unknown zone and for one of only NULL
 */
final private[audit] class RankedColumn(
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

  /** The side of the block's box: everything if unknown. */
  def boxLow(block: Int): Int = math.max(0, low(block))

  def boxHigh(block: Int): Int = if (isKnown(block)) high(block) else math.max(0, scale.size - 1)
}

private[audit] object RankedColumn {

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

  /** The same with ranks among their own bounds. */
  def of(zones: IndexedSeq[Zone]): RankedColumn = of(zones, RankScale.of(zones))
}

/**
 * The distinct bounds of zones, ascending, and the positions where a value may lie: each bound, and between two
 * neighbours one for everything in between.
 */
sealed private[audit] trait RankScale {

  /** Number of bounds. */
  def size: Int

  /** The place of a bound that is there. */
  def rank(word: Word): Int

  def word(rank: Int): Word

  /** Whether a value may lie between this bound and the next one. */
  protected def roomAbove(rank: Int): Boolean

  /** From the least bound to the greatest, both included, as a number of values; None for byte strings. */
  def span: Option[Double]

  /** The position of each bound. */
  lazy val positions: Array[Int] = {
    val at = new Array[Int](size)
    var r = 1
    while (r < size) {
      at(r) = at(r - 1) + (if (roomAbove(r - 1)) 2 else 1)
      r += 1
    }
    at
  }

  /** Number of positions. */
  final def places: Int = if (size == 0) 0 else positions(size - 1) + 1
}

private[audit] object RankScale {

  def of(zones: IndexedSeq[Zone]): RankScale = {
    val bounds = zones.iterator.flatMap {
      case Zone.Between(min, max) => Iterator(min, max)
      case _ => Iterator.empty
    }
    if (!bounds.hasNext) new Numbers(Array.emptyLongArray)
    else bounds.next() match {
      case LongWord(first) => new Numbers(distinct(Iterator(first) ++ bounds.map {
          case LongWord(v) => v
          case _: BytesWord => throw new IllegalArgumentException("the words of a column are of one kind")
        }))
      case BytesWord(first) => new Strings(distinctBytes(Iterator(first) ++ bounds.map {
          case BytesWord(b) => b
          case _: LongWord => throw new IllegalArgumentException("the words of a column are of one kind")
        }))
    }
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

  private val bytewise: java.util.Comparator[Array[Byte]] = new java.util.Comparator[Array[Byte]] {
    override def compare(a: Array[Byte], b: Array[Byte]): Int = BytesWord.compareBytes(a, b)
  }

  private def distinctBytes(values: Iterator[Array[Byte]]): Array[Array[Byte]] = {
    val all = values.toArray
    java.util.Arrays.sort(all, bytewise)
    all.indices.filter(i => i == 0 || bytewise.compare(all(i - 1), all(i)) != 0).map(all(_)).toArray
  }

  final private class Numbers(values: Array[Long]) extends RankScale {
    override def size: Int = values.length
    override def word(rank: Int): Word = LongWord(values(rank))
    override protected def roomAbove(rank: Int): Boolean = values(rank) + 1 != values(rank + 1)
    override def span: Option[Double] =
      if (size == 0) None else Some(values(size - 1).toDouble - values(0).toDouble + 1.0)
    override def rank(word: Word): Int = word match {
      case LongWord(v) => java.util.Arrays.binarySearch(values, v)
      case _: BytesWord => throw new IllegalArgumentException("a number has no byte-string rank")
    }
  }

  final private class Strings(values: Array[Array[Byte]]) extends RankScale {
    override def size: Int = values.length
    override def word(rank: Int): Word = BytesWord(values(rank))
    override protected def roomAbove(rank: Int): Boolean = true
    override def span: Option[Double] = None
    override def rank(word: Word): Int = word match {
      case BytesWord(b) => java.util.Arrays.binarySearch(values, b, bytewise)
      case _: LongWord => throw new IllegalArgumentException("a byte string has no number rank")
    }
  }
}

package sparkzorder.curve.layout

import sparkzorder.curve.{BytesWord, LongWord, Word}

/**
 * The ranks of one column: a non-decreasing map from its words to `[1, Scale.One)`, fitted on a sample so
 * that equal spans of rank hold equal shares of the rows. NULL has rank 0 and is not asked about here.
 *
 * A scale is a list of bins in the order of the words. A ''point'' bin holds one value with enough rows to
 * count by itself; all of it has the rank in the middle of its rows (mid-rank), so that a cut never falls
 * into it. Any other bin spreads its values over its span of ranks.
 */
trait Scale extends Serializable {

  /** Rank at which each bin begins, non-decreasing. */
  def low: Array[Int]

  /** Rank at which each bin ends (exclusive); equal to `low` in a bin that has no width. */
  def high: Array[Int]

  /** Rows of the sample that are in each bin. */
  def rows: Array[Int]

  /** Rows of the sample that are NULL. */
  def nulls: Int

  /** All rows of the sample, NULLs included. */
  def sampled: Int

  def rank(word: Word): Int

  final def bins: Int = low.length

  /** Share of NULLs in the sample. */
  final def nullShare: Double = nulls.toDouble / sampled

  /** Whether bin `i` holds one value only. */
  def isPoint(i: Int): Boolean

  /** The rank of a value below all that were sampled: above NULL, not above any other. */
  final protected def rankBelowAll: Int = Scale.clamp(Scale.rankOf(nulls.toLong, sampled))

  /** Rank spans of single values (NULL first) that hold more than `share` of the rows, ascending. */
  final def heavy(share: Double): Array[RankSpan] = {
    val out = Array.newBuilder[RankSpan]
    if (nullShare > share) out += RankSpan(0, Scale.rankOf(nulls.toLong, sampled))
    var before = nulls.toLong
    var i = 0
    while (i < bins) {
      if (isPoint(i) && rows(i) > share * sampled)
        out += RankSpan(Scale.rankOf(before, sampled), Scale.rankOf(before + rows(i), sampled))
      before += rows(i)
      i += 1
    }
    out.result()
  }

  /** The narrowest span inside `[from, until)` that holds all its sampled rows; empty if there are none. */
  final def occupied(from: Int, until: Int): RankSpan = {
    var lo = if (from == 0 && nulls > 0) 0 else Int.MaxValue
    var hi = if (lo == 0) 1 else Int.MinValue
    var i = 0
    while (i < bins) {
      if (rows(i) > 0) {
        val end = math.max(high(i), low(i) + 1)
        if (low(i) < until && end > from) {
          lo = math.min(lo, math.max(low(i), from))
          hi = math.max(hi, math.min(end, until))
        }
      }
      i += 1
    }
    if (lo >= hi) RankSpan(from, from) else RankSpan(lo, hi)
  }
}

/** Ranks `[from, until)`. */
final case class RankSpan(from: Int, until: Int) {
  def width: Int = until - from
}

object Scale {

  /** Ranks have so many bits. */
  val Bits: Int = 30

  /** One more than the greatest rank: 2^30, so that ranks are positive ints with room for sums. */
  val One: Int = 1 << Bits

  /** The rank below which lie `rowsBelow` of `sampled` rows. */
  def rankOf(rowsBelow: Long, sampled: Int): Int = (rowsBelow * One / sampled).toInt

  private[layout] def clamp(rank: Int): Int = math.max(1, math.min(One - 1, rank))
}

/**
 * A scale of numbers, linear inside a bin.
 *
 * @param starts
 *   first word of each bin, ascending, and one more entry: the end of the last bin (exclusive)
 */
final class LongScale(
    val starts: Array[Long],
    val low: Array[Int],
    val high: Array[Int],
    val rows: Array[Int],
    val nulls: Int,
    val sampled: Int)
    extends Scale {
  private[this] val first = starts(0)
  private[this] val last = bins - 1
  private[this] val end = starts(bins)
  private[this] val below = rankBelowAll

  /** The greatest long has no successor, so it is beyond the end even where it was sampled. */
  private[this] val above = if (end == Long.MaxValue) Scale.clamp(high(last)) else Scale.One - 1

  /** Rank per word inside a bin; a double keeps the map monotone for any width. */
  private[this] val slope: Array[Double] = Array.tabulate(bins) { i =>
    (high(i) - low(i)).toDouble / LongScale.unsigned(starts(i + 1) - starts(i))
  }

  /** Bin by the top bits of the distance from the first word: nearly all searches end within one slot. */
  private[this] val shift: Int =
    math.max(0, 64 - java.lang.Long.numberOfLeadingZeros(end - first) - LongScale.TopBits)
  private[this] val top: Array[Int] = {
    val slots = ((end - first) >>> shift).toInt + 2
    val table = new Array[Int](slots)
    var bin = 0
    var slot = 0
    while (slot < slots) {
      while (bin < last && java.lang.Long.compareUnsigned(
          (starts(bin + 1) - first) >>> shift,
          slot.toLong) < 0)
        bin += 1
      table(slot) = bin
      slot += 1
    }
    table
  }

  override def isPoint(i: Int): Boolean = starts(i + 1) - starts(i) == 1L

  override def rank(word: Word): Int = word match {
    case LongWord(value) => rank(value)
    case _: BytesWord => throw new IllegalArgumentException("this column's scale is one of numbers")
  }

  def rank(value: Long): Int =
    if (value < first) below
    else if (value >= end) above
    else {
      val slot = ((value - first) >>> shift).toInt
      var from = top(slot)
      var until = math.min(top(slot + 1), last)
      while (from < until) {
        val mid = (from + until + 1) >>> 1
        if (starts(mid) <= value) from = mid else until = mid - 1
      }
      Scale.clamp(low(from) + (LongScale.unsigned(value - starts(from)) * slope(from)).toInt)
    }
}

object LongScale {
  private val TopBits = 12

  private def unsigned(x: Long): Double =
    if (x >= 0) x.toDouble else ((x >>> 1) | (x & 1L)).toDouble * 2.0
}

package sparkzorder.curve.layout

import sparkzorder.curve.Word

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
    var first = binsThat(endOf(_) <= from)
    while (first < bins && rows(first) == 0) first += 1
    var last = binsThat(low(_) < until) - 1
    while (last >= first && rows(last) == 0) last -= 1
    val withNulls = from == 0 && nulls > 0
    if (first <= last)
      RankSpan(if (withNulls) 0 else math.max(low(first), from), math.min(endOf(last), until))
    else if (withNulls) RankSpan(0, 1)
    else RankSpan(from, from)
  }

  /** A bin without width has one rank. */
  private def endOf(bin: Int): Int = math.max(high(bin), low(bin) + 1)

  /** Number of bins for which a condition holds that never turns true again. */
  private def binsThat(holds: Int => Boolean): Int = {
    var from = 0
    var until = bins
    while (from < until) {
      val middle = (from + until) >>> 1
      if (holds(middle)) from = middle + 1 else until = middle
    }
    from
  }
}

/** Ranks `[from, until)`. */
final case class RankSpan(from: Int, until: Int) {
  def width: Int = until - from
}

object Scale {

  /** The number of bits of a rank. */
  val Bits: Int = 30

  /** One more than the greatest rank: 2^30, so that ranks are positive ints with room for sums. */
  val One: Int = 1 << Bits

  /** The rank below which lie `rowsBelow` of `sampled` rows. */
  def rankOf(rowsBelow: Long, sampled: Int): Int = (rowsBelow * One / sampled).toInt

  private[layout] def clamp(rank: Int): Int = math.max(1, math.min(One - 1, rank))
}

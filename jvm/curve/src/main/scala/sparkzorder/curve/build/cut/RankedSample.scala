package sparkzorder.curve.build.cut

import sparkzorder.curve.Evenly
import sparkzorder.curve.layout.{RankSpan, Scale}

/**
 * The sampled rows as ranks, one array a column, with the scales they were ranked by.
 *
 * @param ranks
 *   `ranks(c)(i)` is the rank of column c in row i; 0 for NULL
 */
final class RankedSample(val scales: IndexedSeq[Scale], val ranks: Array[Array[Int]]) {
  val columns: Int = ranks.length
  val rows: Int = if (columns == 0) 0 else ranks(0).length

  /** The ranks of the values (NULLs left out) of each column, ascending. */
  private[this] lazy val ascending: Array[Array[Int]] =
    ranks.map(all => RankSort.ascending(all.filter(_ > 0)))

  /** Spans of single values (and NULL) too heavy to share a cell, when the table becomes `files` files. */
  def heavy(files: Int): IndexedSeq[Array[RankSpan]] = scales.map(_.heavy(1.0 / (2.0 * files)))

  /** Every k-th row, so that about `n` are left. */
  def thinned(n: Int): RankedSample =
    if (n >= rows) this else take(Evenly.places(n, rows))

  def take(chosen: Array[Int]): RankedSample =
    new RankedSample(scales, ranks.map(all => chosen.map(all(_))))

  /** The sample with the chosen columns only, numbered by their places in the list. */
  def only(chosen: IndexedSeq[Int]): RankedSample =
    new RankedSample(chosen.map(scales(_)), chosen.map(ranks(_)).toArray)

  def hasValues(column: Int): Boolean = ascending(column).length > 0

  /** Distinct ranks of a column's values. */
  def distinct(column: Int): Int = {
    val values = ascending(column)
    values.indices.count(i => i == 0 || values(i) != values(i - 1))
  }

  def nullShare(column: Int): Double = 1.0 - ascending(column).length.toDouble / math.max(1, rows)

  /** The rank below which lies the share `q` of the column's values. */
  def quantile(column: Int, q: Double): Int = {
    val values = ascending(column)
    if (values.length == 0) 1 else values(math.min(values.length - 1, (values.length * q).toInt))
  }

  /** Share of a column's values whose rank is in `[span.from, span.until)`. */
  def shareOfValues(column: Int, span: RankSpan): Double = {
    val values = ascending(column)
    if (values.length == 0 || span.width <= 0) 0.0
    else
      (QuantileCuts.firstAt(values, span.until) - QuantileCuts.firstAt(
        values,
        span.from)).toDouble / values.length
  }
}

/** Sorts ranks by their digits (LSD radix sort): the fit of a layout sorts every cell of every candidate. */
private[build] object RankSort {

  // scalafix:off DisableSyntax
  // final: the compiler folds them into the loops
  private final val DigitBits = 10
  private final val Digits = 1 << DigitBits
  // scalafix:on DisableSyntax

  /** Fewer ranks are sorted faster by comparisons than digits are counted. */
  private val Few = 2000

  /** Sorts ranks (0 to `Scale.One`) in ascending order. It may overwrite the given array. */
  def ascending(ranks: Array[Int]): Array[Int] =
    if (ranks.length < Few) {
      java.util.Arrays.sort(ranks)
      ranks
    } else {
      var from = ranks
      var to = new Array[Int](ranks.length)
      var shift = 0
      while (shift < Scale.Bits + 1) {
        if (byDigit(from, to, shift)) {
          val room = from
          from = to
          to = room
        }
        shift += DigitBits
      }
      from
    }

  /** Moves the ranks into the order of one digit; does nothing and says so where all have the same. */
  private def byDigit(from: Array[Int], to: Array[Int], shift: Int): Boolean = {
    val next = new Array[Int](Digits + 1)
    var i = 0
    while (i < from.length) {
      next(((from(i) >>> shift) & (Digits - 1)) + 1) += 1
      i += 1
    }
    val parts = next(((from(0) >>> shift) & (Digits - 1)) + 1) < from.length
    if (parts) {
      var d = 1
      while (d <= Digits) {
        next(d) += next(d - 1)
        d += 1
      }
      i = 0
      while (i < from.length) {
        val digit = (from(i) >>> shift) & (Digits - 1)
        to(next(digit)) = from(i)
        next(digit) += 1
        i += 1
      }
    }
    parts
  }
}

package sparkzorder.curve.layout

/**
 * How long the sides of a page are, as queries see them: the share of a column's values that lies between the
 * least and the greatest value of the page, times the weight of the column. The sum of the sides is what
 * look-ups read.
 *
 * @param scales
 *   of the columns
 * @param weights
 *   by column, how much a side counts beside those of the others
 */
final class PageSides private (scales: Array[Scale], weights: Array[Double]) {
  val columns: Int = scales.length

  private[this] val perRank: Array[Double] =
    scales.indices.map(c => weights(c) / math.max(1.0 - scales(c).nullShare, PageSides.LeastValues)).toArray

  private[this] val steps: Array[RankSteps] = scales.map(RankSteps.of)

  /**
   * The side of a page in a column.
   *
   * @param low
   *   least rank of the page's values; NULLs have no part in it
   * @param high
   *   greatest rank; below `low` where there are no values
   */
  def apply(column: Int, low: Int, high: Int): Double =
    if (high < low) 0.0
    else perRank(column) * (steps(column).end(high) - steps(column).start(low))
}

object PageSides {

  /** A column of nearly nothing but NULL must not outweigh all others. */
  private val LeastValues = 1.0 / 16

  /** None for a lexical order: its pages are cut out of the order that was asked for. */
  def of(scales: Array[Scale], inFile: InFileOrder): Option[PageSides] = inFile match {
    case InFileOrder.Lexical => None
    case InFileOrder.Hilbert => Some(new PageSides(scales, scales.map(_ => 1.0)))
    case InFileOrder.Stretched(bits) => Some(new PageSides(scales, bits.map(math.pow(2, _)).toArray))
  }
}

/**
 * The ranks at which a column has many rows, and the span of ranks that these rows stand for: all rows of a
 * value have the rank in the middle of them.
 */
final private class RankSteps(ranks: Array[Int], starts: Array[Int], ends: Array[Int]) {

  /** Where the rows of this rank begin. */
  def start(rank: Int): Int = {
    val at = java.util.Arrays.binarySearch(ranks, rank)
    if (at < 0) rank else starts(at)
  }

  /** Where they end (exclusive). */
  def end(rank: Int): Int = {
    val at = java.util.Arrays.binarySearch(ranks, rank)
    if (at < 0) rank + 1 else ends(at)
  }
}

private object RankSteps {
  def of(scale: Scale): RankSteps = {
    val before = scale.rows.scanLeft(scale.nulls.toLong)(_ + _)
    val bins = scale.rows.indices.filter(i => scale.rows(i) > 0 && scale.low(i) == scale.high(i)).toArray
    new RankSteps(
      bins.map(i => Scale.clamp(scale.low(i))),
      bins.map(i => Scale.rankOf(before(i), scale.sampled)),
      bins.map(i => Scale.rankOf(before(i + 1), scale.sampled)))
  }
}

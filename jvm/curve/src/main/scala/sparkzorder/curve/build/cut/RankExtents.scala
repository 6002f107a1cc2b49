package sparkzorder.curve.build.cut

import sparkzorder.curve.layout.{RankSpan, Scale}

/**
 * What the statistics of a block of some sampled rows would say: least and greatest rank of the values of
 * each column, NULLs left out, and whether there are NULLs. Without values, `low` is above every rank.
 */
final private[build] class RankExtents(val columns: Int) {
  val low: Array[Int] = Array.fill(columns)(Scale.One)
  val high: Array[Int] = Array.fill(columns)(-1)
  val holdsNull: Array[Boolean] = new Array[Boolean](columns)

  def add(column: Int, rank: Int): Unit =
    if (rank == 0) holdsNull(column) = true
    else {
      if (rank < low(column)) low(column) = rank
      if (rank > high(column)) high(column) = rank
    }

  /** The extents of these rows and the others. */
  def and(that: RankExtents): RankExtents = {
    val out = new RankExtents(columns)
    var c = 0
    while (c < columns) {
      out.low(c) = math.min(low(c), that.low(c))
      out.high(c) = math.max(high(c), that.high(c))
      out.holdsNull(c) = holdsNull(c) || that.holdsNull(c)
      c += 1
    }
    out
  }

  /** Whether a cut can part the rows by this column. */
  def varies(column: Int): Boolean = low(column) < high(column) || holdsNull(column) && high(column) > 0

  /** Share of a column's values that such a block would be read for. */
  def cover(sample: RankedSample, column: Int): Double =
    sample.shareOfValues(column, RankSpan(low(column), high(column) + 1))
}

package sparkzorder.curve.cost

import sparkzorder.curve.{Block, Zone}
import sparkzorder.curve.layout.{RankSpan, Scale}

/**
 * Blocks of a candidate layout in ranks, one array a column, so that a query is tested against all of them
 * in loops without branches: the sign of an int says whether a block is missed.
 *
 * @param rows
 *   sampled rows of each block
 * @param low
 *   `low(c)(b)`: least rank of the values of column c in block b; above every rank where there are none
 * @param high
 *   greatest rank; -1 where there are no values
 * @param nullFree
 *   `nullFree(c)(b)`: -1 where block b has no NULL in column c, else 0
 */
final class RankBlocks private (
    val rows: Array[Int],
    low: Array[Array[Int]],
    high: Array[Array[Int]],
    nullFree: Array[Array[Int]]) {
  val size: Int = rows.length

  private[this] val all: Double = rows.iterator.map(_.toDouble).sum

  /** The ranks of a column's values in a block; empty without values. */
  def extent(column: Int, block: Int): RankSpan = RankSpan(low(column)(block), high(column)(block) + 1)

  /** Mean share of the rows that the queries read, by their weights; 0.0 without rows or weight. */
  def share(queries: RankQueries): Double = {
    val each = shares(queries)
    var sum = 0.0
    var q = 0
    while (q < each.length) {
      sum += each(q) * queries.weights(q)
      q += 1
    }
    if (queries.weight <= 0.0) 0.0 else sum / queries.weight
  }

  /** Share of the rows that each query reads. */
  def shares(queries: RankQueries): Array[Double] = {
    val missed = new Array[Int](size)
    val missedConjunction = new Array[Int](size)
    val missedColumn = new Array[Int](size)
    val out = new Array[Double](queries.size)
    var q = 0
    while (q < out.length) {
      val ranges = queries.ranges(q)
      java.util.Arrays.fill(missed, -1)
      var b = 0
      while (b < ranges.length) {
        java.util.Arrays.fill(missedConjunction, 0)
        miss(ranges(b), missedConjunction, missedColumn)
        RankBlocks.both(missed, missedConjunction)
        b += 1
      }
      out(q) = if (all == 0.0) 0.0 else RankBlocks.hit(rows, missed) / all
      q += 1
    }
    out
  }

  /**
   * The blocks of all rows of which these are a sample. The bounds of some rows fall short of those of all by
   * about the mean distance between two ranks at each end, and often by more.
   *
   * @param distances
   *   how many such distances each bound is moved, as far as there are ranks
   */
  def widened(distances: Double): RankBlocks = {
    // of two rows some times all ranks, which are more than an Int counts
    def moved(c: Int, b: Int): Long =
      if (rows(b) < 2 || high(c)(b) <= low(c)(b)) 0L
      else math.round(distances * (high(c)(b) - low(c)(b)) / (rows(b) - 1))
    def each(f: (Int, Int) => Int): Array[Array[Int]] = Array.tabulate(low.length, size)(f)
    new RankBlocks(
      rows,
      each((c, b) => if (high(c)(b) < 0) low(c)(b) else math.max(1L, low(c)(b) - moved(c, b)).toInt),
      each((c, b) => if (high(c)(b) < 0) -1 else math.min(Scale.One - 1L, high(c)(b) + moved(c, b)).toInt),
      nullFree)
  }

  private def miss(conjunction: RankRanges, out: Array[Int], column: Array[Int]): Unit = {
    var i = 0
    while (i < conjunction.columns.length) {
      val c = conjunction.columns(i)
      val lows = conjunction.lows(i)
      if (lows.length == 1 && !conjunction.orNull(i))
        RankBlocks.outside(out, low(c), high(c), lows(0), conjunction.highs(i)(0))
      else {
        java.util.Arrays.fill(column, -1)
        var k = 0
        while (k < lows.length) {
          RankBlocks.outsideToo(column, low(c), high(c), lows(k), conjunction.highs(i)(k))
          k += 1
        }
        if (conjunction.orNull(i)) RankBlocks.both(column, nullFree(c))
        RankBlocks.either(out, column)
      }
      i += 1
    }
  }
}

object RankBlocks {

  /**
   * The blocks of ordered rows.
   *
   * @param ranks
   *   by column and row; 0 is NULL
   * @param order
   *   row numbers in layout order
   * @param starts
   *   where each block begins in `order`, and one more entry for the end
   */
  def of(ranks: Array[Array[Int]], order: Array[Int], starts: Array[Int]): RankBlocks = {
    val n = math.max(0, starts.length - 1)
    val low = Array.fill(ranks.length, n)(Scale.One)
    val high = Array.fill(ranks.length, n)(-1)
    val nullFree = Array.fill(ranks.length, n)(-1)
    for (c <- ranks.indices) extents(ranks(c), order, starts, low(c), high(c), nullFree(c))
    new RankBlocks(Array.tabulate(n)(b => starts(b + 1) - starts(b)), low, high, nullFree)
  }

  /**
   * The blocks of a table as it is, their zones in ranks. What is not known is any rank, and perhaps NULL.
   */
  def ofZones(blocks: IndexedSeq[Block], scales: IndexedSeq[Scale]): RankBlocks = {
    def each(f: (Int, Block, Zone) => Int): Array[Array[Int]] =
      scales.indices.map(c => blocks.map(b => f(c, b, b.zones(c))).toArray).toArray
    new RankBlocks(
      blocks.map(b => math.min(Int.MaxValue.toLong, b.rows).toInt).toArray,
      each {
        case (c, _, Zone.Between(min, _)) => scales(c).rank(min)
        case (_, _, Zone.OnlyNulls) => Scale.One
        case (_, _, Zone.Unknown) => 1
      },
      each {
        case (c, _, Zone.Between(_, max)) => scales(c).rank(max)
        case (_, _, Zone.OnlyNulls) => -1
        case (_, _, Zone.Unknown) => Scale.One - 1
      },
      each {
        case (c, b, _: Zone.Between) if !b.mayHoldNull(c) => -1
        case _ => 0
      })
  }

  private def extents(
      ranks: Array[Int],
      order: Array[Int],
      starts: Array[Int],
      low: Array[Int],
      high: Array[Int],
      nullFree: Array[Int]): Unit = {
    var b = 0
    while (b < low.length) {
      var i = starts(b)
      while (i < starts(b + 1)) {
        val r = ranks(order(i))
        if (r == 0) nullFree(b) = 0
        else {
          if (r < low(b)) low(b) = r
          if (r > high(b)) high(b) = r
        }
        i += 1
      }
      b += 1
    }
  }

  /** Sets the sign of `out(b)` where `[low, high]` of block b lies outside `[from, until]`. */
  private def outside(out: Array[Int], low: Array[Int], high: Array[Int], from: Int, until: Int): Unit = {
    var b = 0
    while (b < out.length) {
      out(b) |= (until - low(b)) | (high(b) - from)
      b += 1
    }
  }

  /** Keeps the sign of `out(b)` only where the block lies outside this interval too. */
  private def outsideToo(out: Array[Int], low: Array[Int], high: Array[Int], from: Int, until: Int): Unit = {
    var b = 0
    while (b < out.length) {
      out(b) &= (until - low(b)) | (high(b) - from)
      b += 1
    }
  }

  private def both(out: Array[Int], other: Array[Int]): Unit = {
    var b = 0
    while (b < out.length) {
      out(b) &= other(b)
      b += 1
    }
  }

  private def either(out: Array[Int], other: Array[Int]): Unit = {
    var b = 0
    while (b < out.length) {
      out(b) |= other(b)
      b += 1
    }
  }

  /** Rows of the blocks that are not missed. Those of a table may be more than an Int counts. */
  private def hit(rows: Array[Int], missed: Array[Int]): Double = {
    var n = 0L
    var b = 0
    while (b < rows.length) {
      n += (rows(b) & ~(missed(b) >> 31)).toLong
      b += 1
    }
    n.toDouble
  }
}

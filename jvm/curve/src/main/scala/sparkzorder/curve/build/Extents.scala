package sparkzorder.curve.build

import sparkzorder.curve.layout.{RankSpan, Scale}

/**
 * What the statistics of a block of some sampled rows would say: least and greatest rank of the values of
 * each column, NULLs left out, and whether there are NULLs. Without values, `low` is above every rank.
 */
final private[build] class Extents(val columns: Int) {
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
  def and(that: Extents): Extents = {
    val out = new Extents(columns)
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

/**
 * Rows and extents on either side of several cuts of one column, all found in one pass over a cell.
 *
 * @param cuts
 *   ranks, ascending and distinct; rows below a cut are on its left
 */
final private[build] class Sides(cell: SampleCell, column: Int, cuts: Array[Int]) {
  private[this] val between = Array.fill(cuts.length + 1)(new Extents(cell.columns))
  private[this] val count = new Array[Int](cuts.length + 1)

  locally {
    val sample = cell.sample
    val ranks = sample.ranks(column)
    var i = 0
    while (i < cell.rows) {
      val row = cell.row(i)
      val slot = if (cuts.length == 0) 0 else QuantileCuts.firstAt(cuts, ranks(row) + 1)
      count(slot) += 1
      val extents = between(slot)
      var c = 0
      while (c < cell.columns) {
        extents.add(c, sample.ranks(c)(row))
        c += 1
      }
      i += 1
    }
  }

  private[this] val rowsUpTo: Array[Int] = count.scanLeft(0)(_ + _).tail
  private[this] val upTo: Array[Extents] = between.tail.scanLeft(between.head)(_ and _)
  private[this] val from: Array[Extents] = between.init.scanRight(between.last)(_ and _)

  def rowsLeft(cut: Int): Int = rowsUpTo(cut)

  def left(cut: Int): Extents = upTo(cut)

  def right(cut: Int): Extents = from(cut + 1)

  /** The extents of the whole cell. */
  def all: Extents = from(0)
}

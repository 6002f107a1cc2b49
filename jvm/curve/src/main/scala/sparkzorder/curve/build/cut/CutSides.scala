package sparkzorder.curve.build.cut

/**
 * Rows and extents on either side of several cuts of one column, all found in one pass over a cell.
 *
 * @param cuts
 *   ranks, ascending and distinct; rows below a cut are on its left
 */
final private[build] class CutSides(cell: SampleCell, column: Int, cuts: Array[Int]) {
  private[this] val between = Array.fill(cuts.length + 1)(new RankExtents(cell.columns))
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
  private[this] val upTo: Array[RankExtents] = between.tail.scanLeft(between.head)(_ and _)
  private[this] val from: Array[RankExtents] = between.init.scanRight(between.last)(_ and _)

  def rowsLeft(cut: Int): Int = rowsUpTo(cut)

  def left(cut: Int): RankExtents = upTo(cut)

  def right(cut: Int): RankExtents = from(cut + 1)

  /** The extents of the whole cell. */
  def all: RankExtents = from(0)
}

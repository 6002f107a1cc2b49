package sparkzorder.curve.build.cut

/**
 * Rows and extents on either side of several cuts of one column, all found in one pass over each column.
 *
 * @param cuts
 *   ranks, ascending and distinct; rows below a cut are on its left
 */
final private[build] class CutSides(cell: SampleCell, column: Int, cuts: Array[Int]) {
  private[this] val between = Array.fill(cuts.length + 1)(new RankExtents(cell.columns))
  private[this] val count = new Array[Int](cuts.length + 1)

  locally {
    val slots = slotOfRows()
    var c = 0
    while (c < cell.columns) {
      extend(c, slots)
      c += 1
    }
  }

  /** Between which cuts each row of the cell lies. */
  private def slotOfRows(): Array[Int] = {
    val slots = new Array[Int](cell.rows)
    val ranks = cell.sample.ranks(column)
    var i = 0
    while (i < slots.length) {
      val slot = if (cuts.length == 0) 0 else QuantileCuts.firstAt(cuts, ranks(cell.row(i)) + 1)
      count(slot) += 1
      slots(i) = slot
      i += 1
    }
    slots
  }

  /** One column at a time: its ranks stay in the processor's cache. */
  private def extend(c: Int, slots: Array[Int]): Unit = {
    val ranks = cell.sample.ranks(c)
    val low = between.map(_.low(c))
    val high = between.map(_.high(c))
    var i = 0
    while (i < slots.length) {
      val rank = ranks(cell.row(i))
      val slot = slots(i)
      if (rank == 0) between(slot).holdsNull(c) = true
      else {
        if (rank < low(slot)) low(slot) = rank
        if (rank > high(slot)) high(slot) = rank
      }
      i += 1
    }
    var slot = 0
    while (slot < between.length) {
      between(slot).low(c) = low(slot)
      between(slot).high(c) = high(slot)
      slot += 1
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

package sparkzorder.curve.build

import sparkzorder.curve.layout.{InFileOrder, RankSpan}

/**
 * The Z-order of the ranks, with files cut at the borders of its cells: the columns are halved in turn.
 * A cut that would fall into a heavy value moves to that value's nearer edge; where halves would make
 * files too unlike, the cut moves to the quantile.
 */
object AlignedZ extends RecursiveBuilder {
  override val name: String = "zorder"
  override val inFile: InFileOrder = InFileOrder.Hilbert

  override protected def propose(cell: SampleCell): Option[Proposal] = {
    val turns = (0 until cell.columns).map(k => (cell.turn + k) % cell.columns)
    val varying = turns.filter(cell.extent(_).width > 1)
    val halves = varying.iterator.flatMap(halved(cell, _))
    if (halves.hasNext) Some(halves.next())
    else {
      val moved = varying.flatMap(QuantileCuts.of(cell, _))
      if (moved.isEmpty) None else Some(moved.minBy(_._2)._1)
    }
  }

  private def halved(cell: SampleCell, column: Int): Option[Proposal] = {
    val extent = cell.extent(column)
    val middle = firstHalving(cell.box(column), extent)
    outsideHeavy(middle, extent, cell.heavy(column)).flatMap { rank =>
      val below = cell.rowsBelow(column, rank)
      if (below == 0 || below == cell.rows) None
      else FileShares.within(cell, below).map(Proposal(column, rank, _))
    }
  }

  /** Halves the span until the border parts the extent: bits that do not split are skipped. */
  private def firstHalving(span: RankSpan, extent: RankSpan): Int = {
    var from = span.from
    var until = span.until
    var middle = (from + until) >>> 1
    while (extent.until <= middle || extent.from >= middle) {
      if (extent.until <= middle) until = middle else from = middle
      middle = (from + until) >>> 1
    }
    middle
  }

  /** The rank itself, or the edge of the heavy span around it that is nearer and parts the extent. */
  private def outsideHeavy(rank: Int, extent: RankSpan, heavy: Array[RankSpan]): Option[Int] =
    heavy.find(h => h.from < rank && rank < h.until) match {
      case None => Some(rank)
      case Some(h) =>
        val edges = Seq(h.from, h.until).filter(e => e > extent.from && e < extent.until)
        if (edges.isEmpty) None else Some(edges.minBy(e => math.abs(e - rank)))
    }
}

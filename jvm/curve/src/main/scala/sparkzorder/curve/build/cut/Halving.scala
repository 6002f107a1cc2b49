package sparkzorder.curve.build.cut

import sparkzorder.curve.layout.RankSpan

/**
 * Cuts at the next bit of a column's ranks. One that would fall into a heavy value moves to that value's
 * nearer edge; there a small file may be cut off, so that look-ups of other values do not read the heavy one.
 */
private[build] object Halving {

  /** A cut at the middle of the ranks, or None where no such cut makes files that are alike. */
  def of(cell: SampleCell, column: Int): Option[ProposedCut] = {
    val extent = cell.extent(column)
    val middle = firstHalving(cell.box(column), extent)
    outsideHeavy(middle, extent, cell.heavy(column)).flatMap { rank =>
      val below = cell.rowsBelow(column, rank)
      if (below == 0 || below == cell.rows) None
      else {
        val apart = if (rank == middle) None else FileAllocation.setApart(cell, below)
        FileAllocation.within(cell, below).orElse(apart).map(ProposedCut(column, rank, _))
      }
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

package sparkzorder.curve.build

import sparkzorder.curve.layout.RankSpan

/**
 * Halves the columns in turn. A cut that would fall into a heavy value moves to that value's nearer edge;
 * where no halves make files that are alike, the cut of any column that parts the rows best is taken.
 *
 * @param firstTurn
 *   the column to begin with
 * @param patience
 *   a column whose halving gains more than so many times that of the column in turn is taken instead
 * @param atQuantiles
 *   cut where the rows of the cell divide as its files do, and not at the middle of its ranks
 */
final private[build] class AlignedCuts(
    override protected val firstTurn: Int,
    patience: Double,
    atQuantiles: Boolean)
    extends Recursion {

  override protected def propose(cell: SampleCell): Option[Proposal] = {
    val turns = (0 until cell.columns).map(k => (cell.turn + k) % cell.columns)
    val varying = turns.filter(cell.extent(_).width > 1)
    val inTurn = varying.iterator.flatMap(c => if (atQuantiles) quantile(cell, c) else halved(cell, c))
    if (inTurn.hasNext) Some(preferred(cell, inTurn))
    else {
      val moved = varying.flatMap(QuantileCuts.of(cell, _))
      if (moved.isEmpty) None else Some(moved.minBy(_._2)._1)
    }
  }

  private def preferred(cell: SampleCell, inTurn: Iterator[Proposal]): Proposal =
    if (patience.isInfinite) inTurn.next()
    else inTurn.map(p => (p, gain(cell, p))).reduceLeft((a, b) => if (b._2 > a._2 * patience) b else a)._1

  private def quantile(cell: SampleCell, column: Int): Option[Proposal] = {
    val cuts = QuantileCuts.of(cell, column).filter(_._2 <= FileShares.Most)
    if (cuts.isEmpty) None else Some(cuts.minBy(_._2)._1)
  }

  /** By how much fewer rows of the cell a look-up on the cut column reads. */
  private def gain(cell: SampleCell, p: Proposal): Double = {
    val below = cell.rowsBelow(p.column, p.rank)
    cell.rows * cell.cover(p.column, 0, Int.MaxValue) -
      below * cell.cover(p.column, 0, p.rank) -
      (cell.rows - below) * cell.cover(p.column, p.rank, Int.MaxValue)
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

private[build] object AlignedCuts {

  /** Every column waits for its turn. */
  val KeepTurns: Double = Double.PositiveInfinity

  /** The column that gains most is cut; turns decide between near equals. */
  val MostGain = 1.02
}

package sparkzorder.curve.build.cut

/**
 * Halves the columns in turn. A cut that would fall into a heavy value moves to that value's nearer edge;
 * where no halves make files that are alike, the cut of any column that parts the rows best is taken.
 *
 * @param firstTurn
 *   the column to begin with
 * @param patience
 *   a column is cut out of turn if it gains more than this many times what the column in turn gains
 * @param atQuantiles
 *   cut where the rows of the cell divide as its files do, and not at the middle of its ranks
 */
final private[build] class AlignedCuts(
    override protected val firstTurn: Int,
    patience: Double,
    atQuantiles: Boolean)
    extends TreeGrower {

  override protected def propose(cell: SampleCell): Option[Proposal] = {
    val turns = (0 until cell.columns).map(k => (cell.turn + k) % cell.columns)
    val varying = turns.filter(cell.extent(_).width > 1)
    val inTurn =
      varying.iterator.flatMap(c => if (atQuantiles) QuantileCuts.best(cell, c) else Halving.of(cell, c))
    if (inTurn.hasNext) Some(preferred(cell, inTurn)) else QuantileCuts.mostEven(cell, varying)
  }

  private def preferred(cell: SampleCell, inTurn: Iterator[Proposal]): Proposal =
    if (patience.isInfinite) inTurn.next()
    else inTurn.map(p => (p, gain(cell, p))).reduceLeft((a, b) => if (b._2 > a._2 * patience) b else a)._1

  /** By how much fewer rows of the cell a look-up on the cut column reads. */
  private def gain(cell: SampleCell, p: Proposal): Double = {
    val sides = new CutSides(cell, p.column, Array(p.rank))
    val left = sides.rowsLeft(0)
    cell.rows * sides.all.cover(cell.sample, p.column) -
      left * sides.left(0).cover(cell.sample, p.column) -
      (cell.rows - left) * sides.right(0).cover(cell.sample, p.column)
  }
}

private[build] object AlignedCuts {

  /** Every column waits for its turn. */
  val KeepTurns: Double = Double.PositiveInfinity

  /** The column that gains most is cut; turns decide between near equals. */
  val MostGain = 1.02
}

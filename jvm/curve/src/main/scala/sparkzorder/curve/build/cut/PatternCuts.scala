package sparkzorder.curve.build.cut

/**
 * Cuts the columns in the order of a bit pattern, each at the next bit of its ranks; where that does not
 * part the cell into files that are alike, the next bit of the pattern is taken.
 *
 * @param pattern
 *   the column of each bit, most significant first; after its end the columns take turns
 * @param atQuantiles
 *   cut where the rows of the cell divide as its files do, and not at the middle of its ranks
 */
final private[build] class PatternCuts(pattern: Array[Int], atQuantiles: Boolean) extends TreeGrower {

  override protected def propose(cell: SampleCell): Option[Proposal] = {
    val bits = Iterator.range(cell.turn, math.max(cell.turn, pattern.length) + cell.columns)
    val found = bits.flatMap(at => cut(cell, columnOf(at, cell.columns)).map(_.copy(nextTurn = Some(at + 1))))
    if (found.hasNext) Some(found.next())
    else QuantileCuts.mostEven(
      cell,
      (0 until cell.columns).filter(cell.extent(_).width > 1)).map(_.copy(nextTurn = Some(cell.turn)))
  }

  private def columnOf(bit: Int, columns: Int): Int =
    if (bit < pattern.length) pattern(bit) else (bit - pattern.length) % columns

  private def cut(cell: SampleCell, column: Int): Option[Proposal] =
    if (cell.extent(column).width <= 1) None
    else if (atQuantiles) QuantileCuts.best(cell, column)
    else Halving.of(cell, column)
}

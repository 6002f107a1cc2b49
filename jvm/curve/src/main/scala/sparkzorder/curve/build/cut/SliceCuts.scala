package sparkzorder.curve.build.cut

/**
 * Cuts one column after the other into slices of equal rows, each slice by the next column, and so on
 * (sort-tile-recursive packing: Leutenegger et al., ICDE 1997). Unlike halves, six slices of one column and
 * seven of the next are possible, so any number of files is shared among the columns as the bound wants it.
 *
 * @param columns
 *   in the order of the cuts
 * @param bits
 *   by column number, log2 of its slices; need not be whole
 * @param files
 *   of the whole table
 */
final private[build] class SliceCuts(columns: IndexedSeq[Int], bits: IndexedSeq[Double], files: Int)
    extends TreeGrower {

  /** Files of one slice of each column, the table's files less the bits spent so far. */
  private[this] val filesOfSlice: IndexedSeq[Double] =
    columns.scanLeft(0.0)((spent, c) => spent + bits(c)).tail.map(spent => files * math.pow(2, -spent))

  override protected def propose(cell: SampleCell): Option[ProposedCut] = {
    val found = Iterator.range(cell.turn, columns.length).flatMap(stage =>
      cut(cell, stage).map(_.copy(nextTurn = Some(stage))))
    if (found.hasNext) Some(found.next())
    else QuantileCuts.mostEven(cell, columns.filter(cell.extent(_).width > 1)).map(_.copy(nextTurn =
      Some(cell.turn)))
  }

  private def cut(cell: SampleCell, stage: Int): Option[ProposedCut] = {
    val slices = math.round(cell.files / filesOfSlice(stage)).toInt
    val left = math.round(cell.files * (slices / 2).toDouble / math.max(1, slices)).toInt
    if (slices < 2 || left < 1 || cell.extent(columns(stage)).width <= 1) None
    else QuantileCuts.best(cell, columns(stage), left)
  }
}

package sparkzorder.curve.cost

import sparkzorder.curve.{Block, Zone}

/**
 * Share read (docs/spec.md, section 2): the mean, over a column's non-NULL values v, of the rows in blocks whose zone
 * holds v, as a part of all rows. 1 = every look-up reads everything. A block is a file, a row group or a page.
 */
object ShareRead {

  /**
   * @param blocks
   *   rows (NULLs included) and zone of each block
   * @param values
   *   sampled non-NULL values of the column. With none, only the blocks of unknown content count.
   * @return
   *   0.0 .. 1.0; 0.0 when there are no rows
   */
  def of(blocks: Seq[(Long, Zone)], values: SortedWords): Double = {
    var all = 0.0
    var read = 0.0
    blocks.foreach { case (rows, zone) =>
      all += rows
      read += rows * fraction(zone, values)
    }
    if (all == 0.0) 0.0 else read / all
  }

  /** Share read of each column of the same blocks, `values` in the order of the blocks' zones. */
  def ofColumns(blocks: Seq[Block], values: IndexedSeq[SortedWords]): IndexedSeq[Double] =
    values.indices.map(c => of(blocks.map(b => (b.rows, b.zones(c))), values(c)))

  private def fraction(zone: Zone, values: SortedWords): Double = zone match {
    case Zone.OnlyNulls => 0.0
    case Zone.Unknown => 1.0
    case _: Zone.Between if values.size == 0 => 0.0
    case _: Zone.Between => values.countIn(zone).toDouble / values.size
  }
}

package sparkzorder.curve.cost

import sparkzorder.curve.{Block, Zone}

/** What a layout costs its queries: one number from the shares of the table that they read. */
object ReadCost {

  /** Files and pages weigh the same: a skipped file is never opened, a skipped page is never read. */
  def of(files: Double, pages: Double): Double = (files + pages) / 2
}

/**
 * Share read (docs/spec.md, section 2): the mean, over a column's non-NULL values v, of the rows in blocks
 * whose zone holds v, as a part of all rows. 1 = every look-up reads everything. A block is a file, a row
 * group or a page.
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
  def of(blocks: Seq[(Long, Zone)], values: SortedValues): Double = {
    var all = 0.0
    var read = 0.0
    blocks.foreach { case (rows, zone) =>
      all += rows
      read += rows * fraction(zone, values)
    }
    if (all == 0.0) 0.0 else read / all
  }

  /** Share read of each column of the same blocks, `values` in the order of the blocks' zones. */
  def ofColumns(blocks: Seq[Block], values: IndexedSeq[SortedValues]): IndexedSeq[Double] =
    values.indices.map(c => of(blocks.map(b => (b.rows, b.zones(c))), values(c)))

  private def fraction(zone: Zone, values: SortedValues): Double = zone match {
    case Zone.OnlyNulls => 0.0
    case Zone.Unknown => 1.0
    case _: Zone.Between if values.size == 0 => 0.0
    case _: Zone.Between => values.countIn(zone).toDouble / values.size
  }
}

/**
 * Share of the rows that a query reads: the rows of the blocks which its conjunctions may touch, told from
 * the zones alone, as a part of all rows. A block is a file, a row group or a page. What is not known is
 * read.
 */
object QueryCost {

  /**
   * 0.0 .. 1.0; 0.0 when there are no rows. A query without conjunctions, or of impossible ones, reads
   * nothing.
   */
  def share(blocks: Seq[Block], query: Query): Double = {
    val conjunctions = query.conjunctions.filterNot(_.impossible)
    var all = 0.0
    var read = 0.0
    blocks.foreach { block =>
      all += block.rows
      if (conjunctions.exists(touches(block, _))) read += block.rows
    }
    if (all == 0.0) 0.0 else read / all
  }

  /** The mean over the queries by their weights; 0.0 without weight. */
  def mean(blocks: Seq[Block], queries: Seq[Query]): Double = {
    val weight = queries.map(_.weight).sum
    if (weight <= 0.0) 0.0 else queries.map(q => q.weight * share(blocks, q)).sum / weight
  }

  /** Whether the block may hold a row of the conjunction. */
  def touches(block: Block, conjunction: Conjunction): Boolean =
    !conjunction.impossible && conjunction.conditions.forall { case (column, condition) =>
      block.zones(column) match {
        case Zone.Unknown => true
        case Zone.OnlyNulls => condition.orNull
        case Zone.Between(min, max) =>
          condition.intervals.exists(_.meets(min, max)) || condition.orNull && block.mayHoldNull(column)
      }
    }
}

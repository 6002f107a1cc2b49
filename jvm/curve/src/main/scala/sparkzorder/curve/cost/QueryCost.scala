package sparkzorder.curve.cost

import sparkzorder.curve.{Block, Zone}

/**
 * Share of the rows that a query reads: the rows of the blocks which its boxes may touch, told from the
 * zones alone, as a part of all rows. A block is a file, a row group or a page. What is not known is read.
 */
object QueryCost {

  /** 0.0 .. 1.0; 0.0 when there are no rows. A query without boxes, or of impossible ones, reads nothing. */
  def share(blocks: Seq[Block], query: Query): Double = {
    val boxes = query.boxes.filterNot(_.impossible)
    var all = 0.0
    var read = 0.0
    blocks.foreach { block =>
      all += block.rows
      if (boxes.exists(touches(block, _))) read += block.rows
    }
    if (all == 0.0) 0.0 else read / all
  }

  /** The mean over the queries by their weights; 0.0 without weight. */
  def mean(blocks: Seq[Block], queries: Seq[Query]): Double = {
    val weight = queries.map(_.weight).sum
    if (weight <= 0.0) 0.0 else queries.map(q => q.weight * share(blocks, q)).sum / weight
  }

  /** Whether the block may hold a row of the box. */
  def touches(block: Block, box: Box): Boolean =
    !box.impossible && box.conditions.forall { case (column, condition) =>
      block.zones(column) match {
        case Zone.Unknown => true
        case Zone.OnlyNulls => condition.orNull
        case Zone.Between(min, max) =>
          condition.intervals.exists(_.meets(min, max)) || condition.orNull && block.mayHoldNull(column)
      }
    }
}

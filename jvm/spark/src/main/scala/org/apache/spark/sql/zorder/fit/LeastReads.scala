package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.{Block, Zone}
import sparkzorder.curve.cost.{Query, QueryCost}

/**
 * The least that look-ups and queries can read of a table whose partitions have so many files, row groups and pages
 * each: every partition is bounded by itself, as no file lies in two, and counts as far as values that are looked up
 * fall into its range.
 *
 * The bound of a partition is that of independent columns; dependent ones may read less ([[LeastReads.unlessBeaten]]).
 */
final class LeastReads(all: IndexedSeq[LeastReads.Part]) {
  private val parts = LeastReads.some(all)
  private val rows = math.max(1.0, parts.map(_.rows).sum)
  private lazy val values = Sample.concat(parts.map(_.sample)).columns.map(_.sorted)

  /** By the columns at these places, of files, row groups and pages that are cut by them alone. */
  def columns(places: Seq[Int]): IndexedSeq[ReadShares] = {
    val each = parts.map { part =>
      val b = part.blocks
      val least = LayoutForecast.bound(part.sample.select(places), Seq(b.files, b.rowGroups, b.pages))
      places.indices.map { i =>
        val weight = part.rows / rows * reach(part, places(i))
        ReadShares(weight * least(0)(i), weight * least(1)(i), weight * least(2)(i))
      }
    }
    places.indices.map(i => LeastReads.sum(each.map(_(i))))
  }

  /** By queries of one shape. */
  def queries(asked: Seq[Query]): ReadShares = {
    val weight = asked.map(_.weight).sum
    LeastReads.sum(parts.map { part =>
      val here = asked.filter(q => q.boxes.exists(QueryCost.touches(part.whole, _)))
      val share = if (weight > 0) part.rows / rows * here.map(_.weight).sum / weight else 0.0
      if (share <= 0.0) ReadShares(0, 0, 0)
      else {
        val least = part.queryBound.of(here, part.blocks)
        ReadShares(share * least.files, share * least.rowGroups, share * least.pages)
      }
    })
  }

  /** Of the values of a column, the share that the partition's range holds. */
  private def reach(part: LeastReads.Part, column: Int): Double = part.whole.zones(column) match {
    case Zone.Between(min, max) => values(column).countBetween(min, max).toDouble / values(column).size
    case _ => 0.0
  }
}

object LeastReads {

  /** So many partitions represent all of a table. */
  private val MostParts = 64

  /**
   * @param blocks
   *   numbers of files, row groups and pages
   */
  final case class Part(sample: Sample, rows: Double, blocks: ReadShares) {
    private[LeastReads] lazy val queryBound = new QueryBound(sample)

    private[LeastReads] lazy val whole: Block = {
      val rows = Array.range(0, sample.rows)
      Block(sample.rows, sample.columns.map(_.zone(rows, 0, sample.rows)))
    }
  }

  /**
   * The bound, unless something is known to read less than it: then the columns depend on each other, and there is none.
   * Less by no more than what samples are off by, it is the bound itself.
   */
  def unlessBeaten(bound: Double, known: Seq[Double]): Option[Double] = {
    val least = (bound +: known).min
    if (least >= Noise * bound) Some(least) else None
  }

  private val Noise = 0.97

  private def some(parts: IndexedSeq[Part]): IndexedSeq[Part] =
    if (parts.length <= MostParts) parts
    else (0 until MostParts).map(i => parts((i.toLong * parts.length / MostParts).toInt))

  private def sum(shares: Seq[ReadShares]): ReadShares =
    ReadShares(shares.map(_.files).sum, shares.map(_.rowGroups).sum, shares.map(_.pages).sum)
}

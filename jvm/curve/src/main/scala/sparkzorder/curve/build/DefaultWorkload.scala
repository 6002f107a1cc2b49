package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{RankRanges, RankQueries}

/**
 * What a table is asked when no log tells: for each column look-ups of its values and ranges of 1 % of
 * them, and ranges of all columns together; each kind with the same weight. The queries are spread evenly
 * over the sample, so the same sample gives the same queries.
 */
object DefaultWorkload {
  private val Queries = 400
  private val Range = 0.01
  private val Side = 0.1

  def of(sample: RankedSample): RankQueries = {
    val columns = Array.range(0, sample.columns).filter(sample.hasValues)
    val single =
      columns.toSeq.flatMap(c => Seq[Int => RankRanges](equality(sample, c, _), range(sample, c, _)))
    val kinds = if (columns.length > 1) single :+ ((i: Int) => ranges(sample, columns, i)) else single
    val each = if (kinds.isEmpty) 0 else math.max(1, Queries / kinds.length)
    val asked = for (kind <- kinds; i <- 0 until each) yield Array(kind(i))
    new RankQueries(asked.toArray, Array.fill(asked.length)(1.0))
  }

  /** Places 0 .. 1 that fill it evenly, by the golden ratio; those of two columns are not related. */
  private def place(i: Int, column: Int): Double = {
    val x = (i + 1) * Steps(column % Steps.length) + 0.37 * column
    x - math.floor(x)
  }

  /** Fractions of square roots of primes, so that these are spread evenly over all columns together. */
  private val Steps = Array(2, 3, 5, 7, 11, 13, 17, 19, 23, 29).map(p => math.sqrt(p.toDouble) % 1.0)

  private def equality(sample: RankedSample, column: Int, i: Int): RankRanges = {
    val rank = sample.quantile(column, place(i, column))
    conjunction(Array((column, rank, rank)))
  }

  private def range(sample: RankedSample, column: Int, i: Int): RankRanges =
    conjunction(Array(side(sample, column, i, Range)))

  private def ranges(sample: RankedSample, columns: Array[Int], i: Int): RankRanges =
    conjunction(columns.map(side(sample, _, i, Side)))

  private def side(sample: RankedSample, column: Int, i: Int, width: Double): (Int, Int, Int) = {
    val from = place(i, column) * (1.0 - width)
    (column, sample.quantile(column, from), sample.quantile(column, from + width))
  }

  private def conjunction(sides: Array[(Int, Int, Int)]): RankRanges =
    new RankRanges(
      sides.map(_._1),
      sides.map(s => Array(s._2)),
      sides.map(s => Array(s._3)),
      new Array[Boolean](sides.length))
}

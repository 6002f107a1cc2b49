package sparkzorder.curve.build

import scala.util.hashing.MurmurHash3

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

/**
 * The queries of a log in two parts, one to fit by and one to judge by. Each part has every kind of query (one
 * that asks of the same columns) with the weight that it has in the log; a kind of one query is in both parts.
 */
object QueryHalves {

  def of(queries: RankQueries): (RankQueries, RankQueries) = {
    val kinds = (0 until queries.size).groupBy(q => queries.ranges(q).map(_.columns.toSeq).toSeq.distinct)
    val parted = kinds.toIndexedSeq.sortBy(_._1.toString).map { case (_, same) =>
      val shuffled = shuffle(queries, same)
      if (same.length == 1) (shuffled, shuffled) else shuffled.splitAt((same.length + 1) / 2)
    }
    val weights = parted.map { case (a, b) => (a ++ b).distinct.map(queries.weights(_)).sum }
    (take(queries, parted.map(_._1), weights), take(queries, parted.map(_._2), weights))
  }

  /**
   * The queries in an order that follows from what they ask: neither a period of the log nor the order in which
   * its files are read shows in the halves. Queries that ask the same are numbered, and so part too.
   */
  private def shuffle(queries: RankQueries, same: IndexedSeq[Int]): IndexedSeq[Int] = {
    val asked = same.map(q => q -> mixed(queries.ranges(q).map(hash)))
    val numbered = asked.groupBy(_._2).values.flatMap(
      _.sortBy { case (q, _) => (queries.weights(q), q) }.zipWithIndex)
    numbered.toIndexedSeq
      .sortBy { case ((_, what), number) => (mixed(Array(what, number)), what, number) }
      .map { case ((q, _), _) => q }
  }

  private def hash(ranges: RankRanges): Int = mixed(
    ranges.columns ++ ranges.lows.map(mixed) ++ ranges.highs.map(mixed) :+ java.util.Arrays.hashCode(
      ranges.orNull))

  /** Not `seqHash` and the like: they differ from Scala 2.12 to 2.13, and a table's layout would with them. */
  private def mixed(parts: Array[Int]): Int =
    MurmurHash3.finalizeHash(parts.foldLeft(0)(MurmurHash3.mix(_, _)), parts.length)

  /** The chosen queries of each kind, with the weight of the kind between them. */
  private def take(
      queries: RankQueries,
      kinds: IndexedSeq[IndexedSeq[Int]],
      weights: IndexedSeq[Double]): RankQueries = {
    val scaled = kinds.zip(weights).flatMap { case (chosen, weight) =>
      val held = chosen.map(queries.weights(_)).sum
      chosen.map(q => (q, if (held <= 0.0) 0.0 else queries.weights(q) * weight / held))
    }
    new RankQueries(scaled.map { case (q, _) => queries.ranges(q) }.toArray, scaled.map(_._2).toArray)
  }
}

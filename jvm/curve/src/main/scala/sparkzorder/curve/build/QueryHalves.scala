package sparkzorder.curve.build

import scala.util.hashing.MurmurHash3

import sparkzorder.curve.cost.{RankRanges, RankQueries}

/**
 * The queries of a log in two parts, one to fit by and one to judge by. Each part has every kind of query
 * (one that asks of the same columns) with the weight that it has in the log; a kind of one query is in both
 * parts.
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
   * The queries in an order that follows from what they ask: neither a period of the log nor the order in
   * which its files are read shows in the halves. Queries that ask the same are numbered, and so part too.
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

  /**
   * Not `seqHash` and the like: they differ from Scala 2.12 to 2.13, and a table's layout would with them.
   */
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

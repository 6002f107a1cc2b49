package sparkzorder.curve.build

import sparkzorder.curve.cost.RankQueries

/**
 * The queries of a log in two parts, one to fit by and one to judge by. Each part has every kind of query (one
 * that asks of the same columns) with the weight that it has in the log; a kind of one query is in both parts.
 */
object QueryHalves {

  def of(queries: RankQueries): (RankQueries, RankQueries) = {
    val kinds = (0 until queries.size).groupBy(q => queries.boxes(q).map(_.columns.toSeq).toSeq.distinct)
    val parted = kinds.values.toIndexedSeq.sortBy(_.head).map { same =>
      if (same.length == 1) (same, same)
      else same.sortBy(q => (mixed(q), q)).splitAt((same.length + 1) / 2)
    }
    val weights = parted.map { case (a, b) => (a ++ b).distinct.map(queries.weights(_)).sum }
    (take(queries, parted.map(_._1), weights), take(queries, parted.map(_._2), weights))
  }

  /** A mix of a number's bits, so that no period of the log shows. */
  private def mixed(n: Int): Int = {
    val m = n * 0x9e3779b9
    (m ^ (m >>> 15)) * 0x85ebca6b
  }

  /** The chosen queries of each kind, with the weight of the kind between them. */
  private def take(
      queries: RankQueries,
      kinds: IndexedSeq[IndexedSeq[Int]],
      weights: IndexedSeq[Double]): RankQueries = {
    val scaled = kinds.zip(weights).flatMap { case (chosen, weight) =>
      val held = chosen.map(queries.weights(_)).sum
      chosen.map(q => (q, if (held <= 0.0) 0.0 else queries.weights(q) * weight / held))
    }
    new RankQueries(scaled.map { case (q, _) => queries.boxes(q) }.toArray, scaled.map(_._2).toArray)
  }
}

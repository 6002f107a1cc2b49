package sparkzorder.curve.cost

import sparkzorder.curve.layout.Scale

/** Queries in the ranks of one sample: `ranges(q)` are the conjunctions of query q, any of which may hold. */
final class RankQueries(val ranges: Array[Array[RankRanges]], val weights: Array[Double]) {
  val size: Int = ranges.length

  val weight: Double = weights.sum

  def touches(query: Int, low: Array[Int], high: Array[Int], holdsNull: Array[Boolean]): Boolean = {
    val any = ranges(query)
    var b = 0
    while (b < any.length) {
      if (any(b).touches(low, high, holdsNull)) return true
      b += 1
    }
    false
  }

  /** The queries of both, those of the other last. */
  def and(that: RankQueries): RankQueries =
    new RankQueries(ranges ++ that.ranges, weights ++ that.weights)

  /** Whether a query asks anything of a column. */
  def asks(query: Int, column: Int): Boolean = ranges(query).exists(_.columns.contains(column))

  /**
   * What is asked of these columns alone, numbered by their places in the list; nothing asked is everything.
   */
  def only(chosen: IndexedSeq[Int]): RankQueries =
    new RankQueries(ranges.map(_.map(_.only(chosen))), weights)

  /** Per query, the share of the rows that match it: what any layout must read of them. */
  def selectivities(ranks: Array[Array[Int]]): Array[Double] = {
    val rows = if (ranks.isEmpty) 0 else ranks(0).length
    ranges.map { any =>
      var n = 0
      var i = 0
      while (i < rows) {
        if (any.exists(_.holds(ranks, i))) n += 1
        i += 1
      }
      if (rows == 0) 0.0 else n.toDouble / rows
    }
  }
}

object RankQueries {

  /** No queries are known. */
  val none: RankQueries = new RankQueries(Array.empty, Array.empty)

  /** Conjunctions that no row meets are left out; an interval that is the wrong way round is empty. */
  def of(queries: Seq[Query], scales: IndexedSeq[Scale]): RankQueries =
    new RankQueries(
      queries.map(_.conjunctions.filterNot(_.impossible).map(rankRanges(_, scales)).toArray).toArray,
      queries.map(_.weight).toArray)

  private def rankRanges(conjunction: Conjunction, scales: IndexedSeq[Scale]): RankRanges = {
    val conditions = conjunction.conditions.toArray.sortBy(_._1)
    val spans = conditions.map { case (column, condition) =>
      condition.intervals.map { i =>
        (
          i.min.fold(1)(scales(column).rank),
          i.max.fold(Scale.One - 1)(scales(column).rank))
      }.filter { case (low, high) => low <= high }
    }
    new RankRanges(
      conditions.map(_._1),
      spans.map(_.map(_._1).toArray),
      spans.map(_.map(_._2).toArray),
      conditions.map(_._2.orNull))
  }
}

/**
 * A conjunction in ranks: interval k of condition i goes from `lows(i)(k)` to `highs(i)(k)`, both included.
 *
 * @param columns
 *   the columns that are asked about
 * @param orNull
 *   whether NULL meets condition i
 */
final class RankRanges(
    val columns: Array[Int],
    val lows: Array[Array[Int]],
    val highs: Array[Array[Int]],
    val orNull: Array[Boolean]) {

  /** Whether a block with these extents of ranks may hold a row in these. */
  def touches(low: Array[Int], high: Array[Int], holdsNull: Array[Boolean]): Boolean = {
    var i = 0
    while (i < columns.length) {
      if (!meets(i, low(columns(i)), high(columns(i)), holdsNull(columns(i)))) return false
      i += 1
    }
    true
  }

  /** The conditions on these columns, numbered by their places in the list. */
  def only(chosen: IndexedSeq[Int]): RankRanges = {
    val kept = columns.indices.filter(i => chosen.contains(columns(i))).toArray
    new RankRanges(
      kept.map(i => chosen.indexOf(columns(i))),
      kept.map(lows(_)),
      kept.map(highs(_)),
      kept.map(orNull(_)))
  }

  /** Whether a row of these ranks is in them; 0 is NULL. */
  def holds(ranks: Array[Array[Int]], row: Int): Boolean = {
    var i = 0
    while (i < columns.length) {
      val r = ranks(columns(i))(row)
      if (!(if (r == 0) orNull(i) else meets(i, r, r, holdsNull = false))) return false
      i += 1
    }
    true
  }

  private def meets(i: Int, low: Int, high: Int, holdsNull: Boolean): Boolean = {
    if (holdsNull && orNull(i)) return true
    val from = lows(i)
    val until = highs(i)
    var k = 0
    while (k < from.length) {
      if (from(k) <= high && until(k) >= low) return true
      k += 1
    }
    false
  }
}

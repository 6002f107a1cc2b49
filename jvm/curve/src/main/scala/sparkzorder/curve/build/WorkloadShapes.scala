package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{Factor, RankRanges, RankQueries, Shape, WorkloadBound}
import sparkzorder.curve.layout.{RankSpan, Scale}

/** What the bound needs to know of queries: how wide they are, in shares of the sampled rows. */
object WorkloadShapes {

  /** The bound of these queries for any number of files, row groups or pages; the shapes are found once. */
  def bound(queries: RankQueries, sample: RankedSample): Double => WorkloadBound = {
    val shapes = of(queries, sample)
    val most = caps(sample)
    blocks => WorkloadBound.of(shapes, most, blocks)
  }

  /**
   * One shape a query. Of an OR it is that of the conjunction which costs most by itself: the whole query
   * costs no less, so the bound stays true.
   */
  private[build] def of(queries: RankQueries, sample: RankedSample): Seq[Shape] =
    (0 until queries.size).flatMap { q =>
      val shapes = queries.ranges(q).map(conjunction => factors(conjunction, sample))
      if (shapes.isEmpty) None
      else Some(Shape(shapes.maxBy(_.map(_.at(Typical)).product), queries.weights(q)))
    }

  /**
   * Per column, the bits that its distinct values need; `Scale.Bits` if nearly every row has its own value.
   */
  private[build] def caps(sample: RankedSample): IndexedSeq[Double] = (0 until sample.columns).map { c =>
    val distinct = sample.distinct(c)
    if (distinct > sample.rows / 4) Scale.Bits.toDouble
    else math.log(math.max(1, distinct).toDouble) / math.log(2)
  }

  /** A share of a column that a block may cover, to compare conjunctions by. */
  private val Typical = 0.1

  private def factors(conjunction: RankRanges, sample: RankedSample): IndexedSeq[Factor] =
    conjunction.columns.indices.map { i =>
      val column = conjunction.columns(i)
      val (lows, highs) = (conjunction.lows(i), conjunction.highs(i))
      val valued = 1.0 - sample.nullShare(column)
      val share = lows.indices.map(k =>
        valued * sample.shareOfValues(column, RankSpan(lows(k), highs(k) + 1))).sum
      val nulls = if (conjunction.orNull(i)) 1.0 - valued else 0.0
      if (lows.isEmpty) Factor.ofNull(column, nulls)
      else if (lows.indices.forall(k => lows(k) == highs(k))) Factor.equality(column, share + nulls)
      else Factor.range(column, share, share + nulls)
    }
}

package org.apache.spark.sql.zorder.clustering.fit

import sparkzorder.curve.{Block, Evenly, Zone}
import sparkzorder.curve.build.WorkloadShapes
import sparkzorder.curve.build.cut.{DenseRanges, RankedSample}
import sparkzorder.curve.cost.{Query, QueryCost, RankQueries, SortedValues, WorkloadBound}

/**
 * The least that look-ups and queries can read of a table whose partitions have so many files, row groups and
 * pages each: every partition is bounded by itself, as no file lies in two, and counts as far as values that
 * are looked up fall into its range.
 *
 * The bound of a partition is that of independent columns. Where a layout is known to read less than that,
 * the columns depend on each other, and the densest ranges of the sample tell what is the least
 * ([[DenseRanges]]), unless that is far less.
 *
 * @param values
 *   that are looked up in each column
 */
final class ReadLowerBound(all: IndexedSeq[ReadLowerBound.Part], values: IndexedSeq[SortedValues]) {
  import ReadLowerBound._

  // of a partition without sampled rows nothing can be said
  private val parts = Evenly.take(all.filter(_.sample.rows > 0), MostParts)
  private val rows = math.max(1.0, parts.map(_.rows).sum)
  private val tried = math.max(LeastTried, math.min(MostTried, Tried / math.max(1, parts.length)))

  /**
   * By the columns at these places, of files, row groups and pages that are cut by them alone.
   *
   * @param known
   *   what a layout reads, column by column; None where none is known
   */
  def columns(places: Seq[Int], known: Option[Seq[ByLevel[Double]]]): IndexedSeq[ByLevel[Double]] = {
    val independent = parts.map(_.independent(places))
    def sum(ofParts: Seq[IndexedSeq[Double]]): IndexedSeq[Double] = places.indices.map { i =>
      parts.zip(ofParts).map { case (part, least) =>
        part.rows / rows * reach(part, places(i)) * least(i)
      }.sum
    }
    val least = EachLevel.map { level =>
      val bound = sum(independent.map(_.map(level)))
      orDense(
        bound,
        known.map(_.map(level).sum))(_.sum)(sum(parts.map(_.dense(places, level, tried).lookUps)))
    }
    places.indices.map(i => least.map(_(i)))
  }

  /**
   * By queries of one shape.
   *
   * @param known
   *   what they read of a layout
   */
  def queries(asked: Seq[Query], known: Option[ByLevel[Double]]): ByLevel[Double] = {
    val weight = asked.map(_.weight).sum
    val places = asked.flatMap(_.columns).distinct.sorted
    val here = parts.map { part =>
      val touching = asked.filter(q => q.conjunctions.exists(QueryCost.touches(part.whole, _)))
      (part, touching, if (weight > 0) part.rows / rows * touching.map(_.weight).sum / weight else 0.0)
    }.filter(_._3 > 0.0)
    val independent = here.map { case (part, touching, _) => part.queryBound.of(touching, part.blocks) }
    EachLevel.map { level =>
      val bound = here.indices.map(i => here(i)._3 * level(independent(i))).sum
      orDense(bound, known.map(level))(identity)(
        here.map { case (part, touching, share) => share * part.ofDense(touching, places, level, tried) }.sum)
    }
  }

  /** The share of a column's values that the partition's range holds. */
  private def reach(part: Part, column: Int): Double = part.whole.zones(column) match {
    // a thinned sample may have no value of a column with few, and then no value is looked up
    case Zone.Between(min, max) if values(column).size > 0 =>
      values(column).countBetween(min, max).toDouble / values(column).size
    case _ => 0.0
  }
}

object ReadLowerBound {

  /** Takes what belongs to one level. */
  private type Level = ByLevel[Double] => Double
  private val EachLevel: ByLevel[Level] = ByLevel[Level](_.files, _.rowGroups, _.pages)

  /** So many partitions represent all of a table. */
  private val MostParts = 64

  /**
   * @param blocks
   *   numbers of files, row groups and pages
   */
  final case class Part(sample: Sample, rows: Double, blocks: ByLevel[Double]) {
    private[ReadLowerBound] lazy val queryBound = new QueryBound(sample)

    private[ReadLowerBound] lazy val whole: Block = {
      val rows = Array.range(0, sample.rows)
      Block(sample.rows, sample.columns.map(_.zone(rows, 0, sample.rows)))
    }

    /** What look-ups in each column read if the columns at these places are independent. */
    private[ReadLowerBound] def independent(places: Seq[Int]): IndexedSeq[ByLevel[Double]] = {
      val least = blocks.map(LayoutForecast.bound(sample.select(places)))
      places.indices.map(i => least.map(_(i)))
    }

    private[ReadLowerBound] def dense(places: Seq[Int], level: Level, tried: Int): DenseRanges =
      new DenseRanges(ranked(places, level), level(blocks), tried)

    /** What queries of the columns at these places read of the densest ranges. */
    private[ReadLowerBound] def ofDense(
        queries: Seq[Query],
        places: Seq[Int],
        level: Level,
        tried: Int): Double = {
      val rows = ranked(places, level)
      new DenseRanges(
        rows,
        level(blocks),
        tried).queries(RankQueries.of(queries.map(_.over(places)), rows.scales))
    }

    /** Enough rows that some are in every block. */
    private def ranked(places: Seq[Int], level: Level): RankedSample = {
      val wanted = math.max(LeastRows, math.min(MostRows, RowsOfBlock * level(blocks)))
      val few = sample.select(places).thinned(wanted.toInt)
      few.ranked(few.scales)
    }
  }

  /** Rows of a table around which ranges are searched, and of a partition at most and at least. */
  private val Tried = 1000
  private val MostTried = 200
  private val LeastTried = 30

  private val LeastRows = 4000.0
  private val MostRows = 10000.0
  private val RowsOfBlock = 30.0

  /**
   * The bound, unless something is known to read less than it: then there is none. Less by no more than what
   * samples are off by, it is the bound itself.
   */
  def unlessBeaten(bound: Double, known: Seq[Double]): Option[Double] =
    if (known.exists(isBeaten(bound, _))) None else Some((bound +: known).min)

  private def isBeaten(bound: Double, known: Double): Boolean = known < Noise * bound

  private val Noise = 0.97

  /**
   * The bound of independent columns; if that is beaten, the one of dense ranges, unless it is so low that it
   * says nothing.
   */
  private def orDense[A](bound: A, known: Option[Double])(total: A => Double)(ofDense: => A): A =
    known.filter(isBeaten(total(bound), _)).fold(bound) { read =>
      val least = ofDense
      if (total(least) >= Useful * read) least else bound
    }

  private val Useful = 0.75
}

/**
 * The least share of the rows that queries can read if a layout were made for them alone: the bound of
 * independent columns ([[WorkloadBound]]), or the rows that match if these are more.
 */
final class QueryBound(sample: Sample) {
  private val few = sample.thinned(QueryBound.Rows)
  private val ranks = few.ranked(few.scales)

  /** @param blocks number of files, row groups or pages that the table will have */
  def of(queries: Seq[Query], blocks: ByLevel[Double]): ByLevel[Double] = {
    val asked = queries.flatMap(_.columns).distinct.sorted
    val ranked = ranks.only(asked.toIndexedSeq)
    val ranges = RankQueries.of(queries.map(_.over(asked)), ranked.scales)
    val bound = WorkloadShapes.bound(ranges, ranked)
    val matching = ranges.selectivities(ranked.ranks)
    blocks.map(n => math.max(bound(n).share, WorkloadBound.floor(matching, ranges.weights, n)))
  }
}

object QueryBound {
  private val Rows = 10000
}

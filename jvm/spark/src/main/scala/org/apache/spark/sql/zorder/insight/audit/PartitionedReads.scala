package org.apache.spark.sql.zorder.insight.audit

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.clustering.fit.{ByLevel, QueryBound}
import sparkzorder.curve.{Block, Evenly}
import sparkzorder.curve.cost.{Conjunction, Query, QueryCost}

/**
 * What queries read of the files of partitions, and the least that they could: no file lies in two
 * partitions.
 *
 * Spark asks a filter of partitions and of columns apart. `day = 1 AND c = 2 OR day = 3` opens all files of
 * both days, and `day = 1 OR c = 2` all files.
 *
 * @param files
 *   the partition of each file, and its zones: of columns, then of partitions
 * @param types
 *   of these columns
 */
final private[audit] class PartitionedReads(files: IndexedSeq[(String, Block)], types: IndexedSeq[DataType]) {
  private val rows = math.max(1L, files.map(_._2.rows).sum).toDouble
  private val parts =
    files.groupBy(_._1).toIndexedSeq.sortBy(_._1).map { case (_, own) => new Part(own.map(_._2)) }

  /**
   * The part of the rows in files that queries open, mean over the queries by their weights; and the same if
   * the files of each partition were made for these queries alone, which is never more.
   */
  def shareAndBound(queries: Seq[Query]): (Double, Double) = {
    val weight = queries.map(_.weight).sum
    val reached = reachedBy(queries)
    if (reached.isEmpty) (0.0, 0.0)
    else {
      val now = reached.map { case (part, its, reach) => reach * QueryCost.mean(part.blocks, its) }.sum
      val some = Evenly.take(reached, PartitionedReads.MostParts)
      val ofSome = some.map { case (part, its, reach) => reach * part.least(its) }.sum
      val least = ofSome / some.map(_._3).sum * reached.map(_._3).sum
      (now / (weight * rows), math.min(now, least) / (weight * rows))
    }
  }

  /** What is asked of each partition in which a query opens some file, and how many rows with what weight. */
  private def reachedBy(queries: Seq[Query]): IndexedSeq[(Part, Seq[Query], Double)] = {
    val each = queries.filter(_.weight > 0.0).map(q => (ofPartitions(q), q.over(types.indices)))
    parts.flatMap { part =>
      val its = each.collect { case (where, query) if part.opens(where, query) => query }
      if (its.isEmpty) None else Some((part, its, part.rows * its.map(_.weight).sum))
    }
  }

  private def ofPartitions(query: Query): Seq[Conjunction] = query.conjunctions.filterNot(_.impossible)
    .map(c => Conjunction(c.conditions.filter(_._1 >= types.length))).distinct

  private class Part(val blocks: IndexedSeq[Block]) {
    val rows: Double = blocks.map(_.rows).sum.toDouble
    private lazy val queryBound =
      new QueryBound(ZoneSample.of(blocks, types.take(PartitionedReads.MostSampled)))
    private val n = blocks.length.toDouble

    /** All files of a partition have the same zones of it. */
    def opens(where: Seq[Conjunction], query: Query): Boolean =
      rows > 0.0 && where.exists(QueryCost.touches(blocks.head, _)) &&
        blocks.exists(b => b.rows > 0 && query.conjunctions.exists(QueryCost.touches(b, _)))

    /** Queries without a condition on these columns read everything, whatever the layout. */
    def least(queries: Seq[Query]): Double = {
      val asked = queries.flatMap(_.columns).distinct.sorted
      if (asked.isEmpty) 1.0
      else if (asked.last < PartitionedReads.MostSampled) queryBound.of(queries, ByLevel.same(n)).files
      else
        new QueryBound(ZoneSample.of(blocks, types, asked))
          .of(queries.map(_.over(asked)), ByLevel.same(n)).files
    }
  }
}

private object PartitionedReads {

  /** The number of partitions that represent all that a shape of query reaches. */
  private val MostParts = 64

  /** So many columns, which come first, are sampled once for all queries; others for the queries that ask them. */
  private val MostSampled = 16
}

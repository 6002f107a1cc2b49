package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.build.WorkloadShapes
import sparkzorder.curve.cost.{Query, RankQueries, WorkloadBound}

/**
 * The least share of the rows that queries can read if a layout were made for them alone: the bound of
 * independent columns ([[WorkloadBound]]), or the rows that match if these are more.
 */
final class QueryBound(sample: Sample) {
  private val few = sample.thinned(QueryBound.Rows)
  private val ranks = few.ranked(few.scales)

  /** @param blocks number of files, row groups or pages that the table will have */
  def of(queries: Seq[Query], blocks: ReadShares): ReadShares = {
    val asked = queries.flatMap(_.columns).distinct.sorted
    val ranked = ranks.only(asked.toIndexedSeq)
    val boxes = RankQueries.of(queries.map(_.over(asked)), ranked.scales)
    val bound = WorkloadShapes.bound(boxes, ranked)
    val matching = boxes.selectivities(ranked.ranks)
    def least(n: Double): Double =
      math.max(bound(n).share, WorkloadBound.floor(matching, boxes.weights, n))
    ReadShares(least(blocks.files), least(blocks.rowGroups), least(blocks.pages))
  }
}

object QueryBound {
  private val Rows = 10000
}

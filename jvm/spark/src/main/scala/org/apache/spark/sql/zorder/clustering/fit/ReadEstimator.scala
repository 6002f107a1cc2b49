package org.apache.spark.sql.zorder.clustering.fit

import sparkzorder.curve.Evenly
import sparkzorder.curve.cost.{Query, QueryCost, ShareRead, SortedValues}

/**
 * Estimates the share of a table that is read, by the same queries before a run, forecast and after it:
 * look-ups of sampled values in each column, and the queries of a log.
 *
 * @param values
 *   per column of the blocks, values to look up
 * @param questions
 *   groups of queries over the columns of the blocks; empty without a log
 */
final class ReadEstimator(val values: IndexedSeq[SortedValues], val questions: IndexedSeq[Seq[Query]]) {

  /** Share that a look-up reads, per column. */
  def columns(levels: Levels): IndexedSeq[ByLevel[Double]] = {
    val shares = levels.map(ShareRead.ofColumns(_, values))
    values.indices.map(c => shares.map(_(c)))
  }

  /** Mean share that the queries read, per group. */
  def queries(levels: Levels): IndexedSeq[ByLevel[Double]] = {
    val few = levels.map(Evenly.take(_, ReadEstimator.MostBlocks))
    questions.map(group => few.map(QueryCost.mean(_, group)))
  }
}

object ReadEstimator {

  /** This many blocks give the share of a query to three digits; a large table has a million pages. */
  private val MostBlocks = 20000
}

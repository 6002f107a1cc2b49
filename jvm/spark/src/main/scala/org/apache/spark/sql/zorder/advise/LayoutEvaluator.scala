package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.zorder.fit.Sample
import sparkzorder.curve.Block
import sparkzorder.curve.advise.ColumnSearch
import sparkzorder.curve.build.{DefaultWorkload, HeldOut, QueryHalves, QueryShares, WorkloadShapes}
import sparkzorder.curve.cost.{Query, RankBlocks, RankQueries, ReadCost}
import sparkzorder.curve.layout.Scale

/**
 * Fits layouts on one half of the sampled rows and queries, and evaluates them on the other half.
 *
 * @param queries
 *   over the sample's columns; empty where look-ups, ranges and boxes of every column stand for them
 * @param files
 *   of the layouts
 * @param pagesPerFile
 *   mean number of pages in a file
 */
final private[advise] class LayoutEvaluator(
    sample: Sample,
    queries: Seq[Query],
    val files: Int,
    pagesPerFile: Double) {
  private val (toFit, toJudge) = sample.halves
  private val scales: IndexedSeq[Scale] = toFit.scales
  private val rows = toFit.ranked(scales)
  private val (known, unseen) =
    QueryHalves.of(if (queries.isEmpty) DefaultWorkload.of(rows) else RankQueries.of(queries, scales))
  private val heldOut = new HeldOut(toJudge.ranked(scales), unseen, files, pagesPerFile)

  val search: ColumnSearch =
    new ColumnSearch(rows, known, queries.nonEmpty, heldOut, files, pagesPerFile)

  private val boundOf = WorkloadShapes.bound(unseen, rows)

  /** The least that the queries could read of this many files if the columns were independent. */
  val bound: Double = boundOf(files.toDouble).share

  /** The same for files and pages. */
  val boundCost: Double = ReadCost.of(bound, boundOf(files * pagesPerFile).share)

  /** What the queries read of the files and pages that are there. */
  def now(files: Seq[Block], pages: Seq[Block]): QueryShares =
    heldOut.read(
      RankBlocks.ofZones(files.toIndexedSeq, scales),
      RankBlocks.ofZones(pages.toIndexedSeq, scales))
}

private[advise] object LayoutEvaluator {

  /** Files of fewer sampled rows would all look narrower than they are. */
  private val LeastRows = 20

  /** The number of files that a run makes, or fewer if the sample is too small for that many. */
  def files(wanted: Int, sampledRows: Int): Int = math.max(1, math.min(wanted, sampledRows / LeastRows))
}

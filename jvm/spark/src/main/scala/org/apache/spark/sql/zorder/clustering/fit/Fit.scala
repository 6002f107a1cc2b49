package org.apache.spark.sql.zorder.clustering.fit

import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import sparkzorder.curve.Block
import sparkzorder.curve.build.{AutoChoice, Candidate, CurveRegistry, DefaultWorkload, WorkloadShapes}
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{Query, RankBlocks, RankQueries}
import sparkzorder.curve.layout.{Layout, LayoutColumn}

/** A clustering column by its SQL text and the SQL name of its type. */
final case class FitColumn(sql: String, dataType: String)

/**
 * A layout and the candidates that it was chosen from.
 *
 * @param candidates
 *   the layouts tried, with the share of held-out rows that queries read of them; empty if there was no
 *   choice
 * @param scorer
 *   scores other blocks by the same queries
 */
final case class Choice(layout: Layout, candidates: IndexedSeq[Candidate], scorer: CandidateScorer)

/** Fits a layout on a sample. Deterministic. */
object Fit {

  /**
   * @param curve
   *   one of `CurveRegistry.names`; `auto` takes what reads least
   * @param queries
   *   over the columns by their place in `columns`; without any, look-ups and ranges on each column
   * @param pagesPerFile
   *   mean number of pages in a file; one at least
   */
  def choose(
      sample: Sample,
      columns: Seq[FitColumn],
      files: Int,
      curve: String,
      queries: Seq[Query],
      pagesPerFile: Double): Choice = {
    val scales = sample.scalesOf(files)
    val ranked = sample.ranked(scales)
    val asked = RankQueries.of(queries, scales)
    val pages = math.max(1.0, pagesPerFile)
    val chosen =
      AutoChoice.fit(ranked, asked, files, pages, CurveRegistry.builders(curve, columns.length))
    val named = columns.zip(scales).map { case (c, s) => LayoutColumn(c.sql, c.dataType, s) }
    Choice(
      Layout(named.toIndexedSeq, chosen.tree, chosen.name, chosen.inFile),
      chosen.candidates,
      new CandidateScorer(ranked, asked, files.toDouble, files * pages))
  }

  def ref(layout: Layout): LayoutRef = new LayoutRef(LayoutJson.id(LayoutJson.write(layout)), layout)
}

/**
 * Scores blocks by the queries that the candidate layouts of one table or partition were compared by, so that
 * the scores can be compared with those of the candidates.
 *
 * @param logged
 *   the queries of a log; without any, the default workload
 */
final class CandidateScorer(sample: RankedSample, logged: RankQueries, files: Double, pages: Double) {
  private lazy val few = sample.thinned(CandidateScorer.Rows)
  private lazy val asked = if (logged.weight > 0.0) logged else DefaultWorkload.of(few)

  /** What the queries read of existing blocks. */
  def of(name: String, levels: Levels): Candidate = Candidate(name, share(levels.files), share(levels.pages))

  /**
   * The least that any layout of as many blocks could read if the columns were independent; a file has whole
   * pages.
   */
  def bound(levels: Levels): Candidate = Candidate(
    "bound",
    least(math.max(files, levels.files.length.toDouble)).share,
    least(math.max(pages, levels.pages.length.toDouble)).share)

  private def share(blocks: Seq[Block]): Double =
    RankBlocks.ofZones(blocks.toIndexedSeq, sample.scales).share(asked)

  private lazy val least = WorkloadShapes.bound(asked, few)
}

object CandidateScorer {
  private val Rows = 20000
}

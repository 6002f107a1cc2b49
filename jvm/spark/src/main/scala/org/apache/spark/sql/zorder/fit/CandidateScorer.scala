package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.Block
import sparkzorder.curve.build.{Candidate, DefaultWorkload, WorkloadShapes}
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{RankBlocks, RankQueries}

/**
 * Scores blocks by the queries that the candidate layouts of one table or partition were compared by, so that the
 * scores can be compared with those of the candidates.
 *
 * @param logged
 *   the queries of a log; without any, the default workload
 */
final class CandidateScorer(sample: RankedSample, logged: RankQueries, files: Double, pages: Double) {
  private lazy val few = sample.thinned(CandidateScorer.Rows)
  private lazy val asked = if (logged.weight > 0.0) logged else DefaultWorkload.of(few)

  /** What the queries read of existing blocks. */
  def of(name: String, levels: Levels): Candidate = Candidate(name, share(levels.files), share(levels.pages))

  /** The least that any layout could read if the columns were independent. */
  def bound: Candidate = Candidate("bound", least(files).share, least(pages).share)

  private def share(blocks: Seq[Block]): Double =
    RankBlocks.ofZones(blocks.toIndexedSeq, sample.scales).share(asked)

  private lazy val least = WorkloadShapes.bound(asked, few)
}

object CandidateScorer {
  private val Rows = 20000
}

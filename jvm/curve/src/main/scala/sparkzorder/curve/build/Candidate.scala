package sparkzorder.curve.build

import sparkzorder.curve.cost.{RankQueries, ReadCost}
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/**
 * One of the layouts that were compared, with the share of held-out rows that held-out queries read.
 *
 * @param files
 *   mean share at the level of files
 * @param pages
 *   mean share at the level of pages
 */
final case class Candidate(name: String, files: Double, pages: Double) {

  def cost: Double = ReadCost.of(files, pages)
}

/**
 * The layout that was chosen.
 *
 * @param name
 *   of its builder
 * @param candidates
 *   all that were compared, in the order in which they were tried; empty where there was no choice
 */
final case class Chosen(
    tree: CutTree,
    inFile: InFileOrder,
    name: String,
    candidates: IndexedSeq[Candidate])

/**
 * A candidate with what each query reads of it.
 *
 * @param files
 *   by query, at the level of files
 * @param pages
 *   by query, at the level of pages
 * @param lookUps
 *   by column, what look-ups of its values read at the level of files
 */
final private[build] class ScoredCandidate(
    name: String,
    val inFile: InFileOrder,
    private val files: Array[Double],
    private val pages: Array[Double],
    private val lookUps: IndexedSeq[Double],
    private val queries: RankQueries) {
  val candidate: Candidate = Candidate(name, mean(files), mean(pages))

  def cost: Double = candidate.cost

  private def costs: Array[Double] = files.indices.map(q => ReadCost.of(files(q), pages(q))).toArray

  /** By how many standard errors of the mean over the queries this costs less than the other. */
  def surely(that: ScoredCandidate): Double = {
    val gains = costs.zip(that.costs).map { case (mine, its) => its - mine }
    val gain = mean(gains)
    val variance = gains.indices.map { q =>
      val w = queries.weights(q) / queries.weight
      w * w * (gains(q) - gain) * (gains(q) - gain)
    }.sum
    if (gain <= 0.0) 0.0 else gain / math.sqrt(math.max(variance, 1e-30))
  }

  /** Whether it costs at most this part of what the other does, and reads no more files. */
  def replaces(that: ScoredCandidate, part: Double): Boolean =
    candidate.files <= that.candidate.files && cost <= part * that.cost

  /** Whether look-ups of every column read at most `most` times what they read of the other. */
  def sparesColumns(that: ScoredCandidate, most: Double): Boolean =
    lookUps.indices.forall(c => lookUps(c) <= most * that.lookUps(c))

  /** Both together: the same kind of layout of other rows, costed on other queries. */
  def and(that: ScoredCandidate): ScoredCandidate = new ScoredCandidate(
    name,
    inFile,
    files ++ that.files,
    pages ++ that.pages,
    lookUps.zip(that.lookUps).map { case (a, b) => (a + b) / 2 },
    queries.and(that.queries))

  private[this] def mean(each: Array[Double]): Double =
    each.indices.map(q => each(q) * queries.weights(q)).sum / queries.weight
}

package sparkzorder.curve.build

import sparkzorder.curve.cost.RankQueries
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

  /** Files and pages weigh the same. */
  def cost: Double = (files + pages) / 2
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
 * Chooses among builders by what they read: each is fitted on one half of the rows and queries and costed on
 * the other, since a tree that learns from a log over-fits it. The best is fitted again on everything.
 * The aligned Z-order, where it is a candidate, stays unless another is clearly better, and what replaces it
 * reads no more than it on the whole log. Deterministic.
 */
object AutoChoice {

  /** The cost below which another layout replaces the aligned Z-order, which costs 1. */
  private val Clearly = 0.97

  /** Pages of fewer sampled rows would all look smaller than they are. */
  private val LeastPageRows = 4

  /**
   * @param queries
   *   in the ranks of the sample; without any, `DefaultWorkload` stands for them
   * @param pagesPerFile
   *   mean number of pages that a file will have
   */
  def fit(
      sample: RankedSample,
      queries: RankQueries,
      files: Int,
      pagesPerFile: Double,
      among: Seq[LayoutBuilder]): Chosen = {
    val asked = if (queries.weight > 0.0) queries else DefaultWorkload.of(sample)
    if (among.size == 1 || sample.rows == 0 || asked.size == 0) {
      val only = among.head
      Chosen(only.build(sample, asked, files), only.inFile, only.name, IndexedSeq.empty)
    } else chosen(sample, asked, files, pagesPerFile, among)
  }

  private def chosen(
      sample: RankedSample,
      queries: RankQueries,
      files: Int,
      pagesPerFile: Double,
      among: Seq[LayoutBuilder]): Chosen = {
    val (rows, unseenRows) = halves(sample.rows)
    val (known, unseen) = halves(queries.size)
    val trained = sample.take(rows)
    val judged = sample.take(unseenRows)
    val (log, test) = if (queries.size < 2) (queries, queries) else (queries.take(known), queries.take(unseen))
    val candidates = among.map { builder =>
      cost(builder, builder.build(trained, log, files), judged, test, files, pagesPerFile)
    }.toIndexedSeq
    val best = candidates.indices.reduceLeft((a, b) => if (candidates(b).cost < candidates(a).cost) b else a)
    val tree = among(best).build(sample, queries, files)
    def take(i: Int, tree: CutTree) = Chosen(tree, among(i).inFile, among(i).name, candidates)
    val plain = among.indexOf(AlignedZ)
    if (plain < 0 || best == plain) take(best, tree)
    else {
      val z = AlignedZ.build(sample, queries, files)
      def whole(i: Int, tree: CutTree) = cost(among(i), tree, sample, queries, files, pagesPerFile).cost
      val gains = candidates(best).cost < Clearly * candidates(plain).cost
      if (gains && whole(best, tree) <= whole(plain, z)) take(best, tree) else take(plain, z)
    }
  }

  private def cost(
      builder: LayoutBuilder,
      tree: CutTree,
      rows: RankedSample,
      queries: RankQueries,
      files: Int,
      pagesPerFile: Double): Candidate = {
    val placed = PlacedRows.of(rows, tree, builder.inFile)
    val pageRows = math.max(LeastPageRows, math.round(rows.rows / (files * pagesPerFile)).toInt)
    Candidate(builder.name, placed.files.share(queries), placed.pages(pageRows).share(queries))
  }

  /** Numbers below n in two halves, by a mix of their bits, so that no period of the input shows. */
  private def halves(n: Int): (Array[Int], Array[Int]) = Array.range(0, n).partition { i =>
    val mixed = i * 0x9e3779b9
    ((mixed ^ (mixed >>> 15)) * 0x85ebca6b) >>> 31 == 0
  }
}

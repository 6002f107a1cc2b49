package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/**
 * Chooses among builders by what they read: each is fitted on one half of the rows and queries and costed on
 * the other, since a tree that learns from a log over-fits it, and once more with the halves exchanged, since
 * the winner of one half owes much to luck. The best is fitted again on everything.
 * The aligned Z-order, where it is a candidate, stays unless another is clearly better and reads no
 * more files, and what replaces it reads no more than it on the whole log; without a log no column may pay
 * for the others. Deterministic.
 */
final private class AutoChoice(
    among: Seq[LayoutBuilder],
    files: Int,
    pagesPerFile: Double,
    margin: AutoChoice.Margin) {
  import AutoChoice._

  private[this] val plain = among.indexOf(AlignedZ)

  def of(sample: RankedSample, queries: RankQueries): Chosen = {
    val judged = compared(sample.thinned(math.max(ComparedRows, files * RowsPerFile)), queries)
    val allowed = judged.indices.filter(i => plain < 0 || i == plain || clearly(judged(i), judged(plain)))
    val best = allowed.reduceLeft((a, b) => if (judged(b).cost < judged(a).cost) b else a)
    def take(i: Int, tree: CutTree) =
      Chosen(tree, judged(i).inFile, among(i).name, judged.map(_.candidate))
    def built(i: Int) = among(i).build(sample, queries, files)
    val tree = built(best)
    if (plain < 0 || best == plain) take(best, tree)
    else {
      val z = built(plain)
      def whole(i: Int, tree: CutTree) = judge(among(i).name, tree, judged(i).inFile, sample, queries)
      if (whole(best, tree).replaces(whole(plain, z), 1.0)) take(best, tree) else take(plain, z)
    }
  }

  private def clearly(other: ScoredCandidate, z: ScoredCandidate): Boolean =
    other.replaces(z, margin.part) && other.surely(z) >= margin.errors &&
      other.sparesColumns(z, margin.column)

  /** Every builder fitted on one half and costed on the other, and the other way round. */
  private def compared(sample: RankedSample, queries: RankQueries): IndexedSeq[ScoredCandidate] = {
    val (some, others) = halves(sample.rows)
    // every kind of query has its weight in both halves, or a rare one would be lost to one of them
    val (log, test) = QueryHalves.of(queries)
    val folds = Seq(
      Fold(sample.take(some), log, sample.take(others), test),
      Fold(sample.take(others), test, sample.take(some), log))
    val pageOrder = PageOrder.of(sample, queries, files * pagesPerFile)
    InParallel.map(among.toIndexedSeq) { builder =>
      val trees = folds.map(fold => fold -> builder.build(fold.rows, fold.log, files))
      val orders = builder.inFile +: pageOrder.filter(_ => builder.inFile == InFileOrder.Hilbert).toSeq
      orders.map(order =>
        trees.map { case (fold, tree) => judge(builder.name, tree, order, fold.unseen, fold.test) }
          .reduce(_ and _)).reduceLeft((a, b) =>
        if (b.candidate.pages <= WithLog.part * a.candidate.pages) b else a)
    }
  }

  private def judge(
      name: String,
      tree: CutTree,
      inFile: InFileOrder,
      rows: RankedSample,
      queries: RankQueries): ScoredCandidate = {
    val placed = PlacedRows.of(rows, tree, inFile)
    val pageRows = PlacedRows.pageRows(rows.rows, files, pagesPerFile)
    val blocks = placed.files
    new ScoredCandidate(
      name,
      inFile,
      blocks.shares(queries),
      placed.pages(pageRows).shares(queries),
      LookUps.shares(rows, blocks),
      queries)
  }

  /** Numbers below n in two halves, by a mix of their bits, so that no period of the input shows. */
  private def halves(n: Int): (Array[Int], Array[Int]) = Array.range(0, n).partition { i =>
    val mixed = i * 0x9e3779b9
    ((mixed ^ (mixed >>> 15)) * 0x85ebca6b) >>> 31 == 0
  }
}

object AutoChoice {

  /** What a layout is fitted on, and what it is costed on. */
  private final case class Fold(rows: RankedSample, log: RankQueries, unseen: RankedSample, test: RankQueries)

  /**
   * What replaces the aligned Z-order.
   *
   * @param part
   *   its cost is at most this part of that of the Z-order
   * @param errors
   *   the gain is at least this many standard errors of its mean over the held-out queries
   * @param column
   *   look-ups of no column read more than this many times what they read of the Z-order
   */
  private final case class Margin(part: Double, errors: Double, column: Double)

  /** A log says which columns matter, so one may get worse for another. */
  private val WithLog = Margin(0.97, 1.0, Double.PositiveInfinity)

  /**
   * Nobody knows which columns and literals are asked for. Literals that come again fall on other cuts in
   * another layout, which is luck, good or bad, of more than a small mean gain.
   */
  private val WithoutLog = Margin(0.90, 0.0, 1.02)

  /** Candidates are compared on this many rows, which is enough; only the chosen one is fitted on all rows. */
  private val ComparedRows = 60000
  private val RowsPerFile = 400

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
    val logged = queries.weight > 0.0
    val asked = if (logged) queries else DefaultWorkload.of(sample)
    if (among.size == 1 || sample.rows == 0 || asked.size == 0) {
      val only = among.head
      Chosen(only.build(sample, asked, files), only.inFile, only.name, IndexedSeq.empty)
    } else new AutoChoice(among, files, pagesPerFile, if (logged) WithLog else WithoutLog).of(sample, asked)
  }
}

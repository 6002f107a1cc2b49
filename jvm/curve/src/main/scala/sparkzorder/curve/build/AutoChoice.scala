package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{RankQueries, ReadCost}
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/**
 * Chooses among builders by what they read: each is fitted on one half of the rows and queries and costed on
 * the other, since a tree that learns from a log over-fits it, and once more with the halves exchanged, since
 * the winner of one half owes much to luck. The best is fitted again on everything.
 * The aligned Z-order, where it is a candidate, stays unless another is clearly better and reads no
 * more files, and what replaces it reads no more than it on the whole log. Without a log, nobody knows which
 * columns are asked for: then no look-ups of a single column may read noticeably more. Deterministic.
 */
final private class AutoChoice(
    builders: Seq[LayoutBuilder],
    files: Int,
    pagesPerFile: Double,
    margin: AutoChoice.Margin) {
  import AutoChoice._

  /** The place of the aligned Z-order among the builders. */
  private[this] val plain: Option[Int] = Some(builders.indexOf(AlignedZ)).filter(_ >= 0)

  def of(sample: RankedSample, queries: RankQueries): Chosen = {
    val scored = compared(sample.thinned(math.max(ComparedRows, files * RowsPerFile)), queries)
    val allowed = scored.indices.filter(i => plain.forall(z => i == z || clearly(scored(i), scored(z))))
    val best = allowed.reduceLeft((a, b) => if (scored(b).cost < scored(a).cost) b else a)
    def built(i: Int) = builders(i).build(sample, queries, files)
    def onAll(i: Int, tree: CutTree) = score(builders(i).name, tree, scored(i).inFile, sample, queries)
    def chosen(i: Int, tree: CutTree) =
      Chosen(tree, scored(i).inFile, builders(i).name, scored.map(_.candidate))
    val bestTree = built(best)
    plain.filter(_ != best).map(z => z -> built(z)) match {
      case Some((z, zTree)) if !onAll(best, bestTree).replaces(onAll(z, zTree), 1.0) => chosen(z, zTree)
      case _ => chosen(best, bestTree)
    }
  }

  private def clearly(other: ScoredCandidate, z: ScoredCandidate): Boolean =
    other.replaces(z, margin.part) && other.surely(z) >= margin.errors &&
      other.sparesColumns(z, margin.column)

  /** Every builder fitted on one half and costed on the other, and the other way round. */
  private def compared(sample: RankedSample, queries: RankQueries): IndexedSeq[ScoredCandidate] = {
    val (firstHalf, secondHalf) = halves(sample.rows)
    // every kind of query has its weight in both halves, or a rare one would be lost to one of them
    val (log, test) = QueryHalves.of(queries)
    val folds = Seq(
      Fold(sample.take(firstHalf), log, sample.take(secondHalf), test),
      Fold(sample.take(secondHalf), test, sample.take(firstHalf), log))
    val pageOrder = PageOrder.of(sample, queries, files * pagesPerFile)
    InParallel.map(builders.toIndexedSeq) { builder =>
      val trees = folds.map(fold => fold -> builder.build(fold.rows, fold.log, files))
      val orders = builder.inFile +: pageOrder.filter(_ => builder.inFile == InFileOrder.Hilbert).toSeq
      orders.map(order =>
        trees.map { case (fold, tree) => score(builder.name, tree, order, fold.unseen, fold.test) }
          .reduce(_ and _)).reduceLeft((a, b) =>
        if (b.candidate.pages <= WithLog.part * a.candidate.pages) b else a)
    }
  }

  private def score(
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

  /**
   * Candidates are compared on this many rows, which is enough; only the chosen one is fitted on all rows.
   */
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
      builders: Seq[LayoutBuilder]): Chosen = {
    val logged = queries.weight > 0.0
    val asked = if (logged) queries else DefaultWorkload.of(sample)
    if (builders.size == 1 || sample.rows == 0 || asked.size == 0) {
      val only = builders.head
      Chosen(only.build(sample, asked, files), only.inFile, only.name, IndexedSeq.empty)
    } else {
      val margin = if (logged) WithLog else WithoutLog
      new AutoChoice(builders, files, pagesPerFile, margin).of(sample, asked)
    }
  }
}

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

  /** The number of standard errors of the mean over the queries by which this costs less than the other. */
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

  /** Puts both together: layouts of one kind, of different rows, costed on different queries. */
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

/** The order inside files that gives pages the sides which the bound of the workload wants. */
private object PageOrder {

  /** None where the queries want pages that are as long in every column. */
  def of(sample: RankedSample, queries: RankQueries, pages: Double): Option[InFileOrder] = {
    val bits = WorkloadShapes.bound(queries, sample)(pages).bits
    val extraBits = bits.map(b => math.round(b - bits.min).toInt)
    if (extraBits.forall(_ == 0)) None else Some(InFileOrder.Stretched(extraBits))
  }
}

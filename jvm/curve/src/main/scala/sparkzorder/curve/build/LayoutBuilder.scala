package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{
  AlignedCuts,
  ProposedCut,
  QuantileCuts,
  QueryCuts,
  RankedSample,
  SampleCell,
  SliceCuts,
  TreeGrower
}
import sparkzorder.curve.build.cut.AlignedCuts._
import sparkzorder.curve.cost.{RankBlocks, RankQueries}
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/** Makes the tree of cuts of a layout from a sample. Deterministic: the same sample, the same tree. */
trait LayoutBuilder {

  /** The name of the layouts that it makes, in reports and in their JSON. */
  def name: String

  /** The order inside the files that goes with the tree. */
  def inFile: InFileOrder

  /** @param files how many files the tree should have; fewer where the sample has no more distinct keys */
  def build(sample: RankedSample, files: Int): CutTree

  /** The tree for these queries; a builder that does not learn from queries makes the same tree for all. */
  def build(sample: RankedSample, queries: RankQueries, files: Int): CutTree = build(sample, files)
}

/** A builder that learns from queries; without any, from the default workload. */
abstract private[build] class QueryBuilder(override val name: String) extends LayoutBuilder {
  override val inFile: InFileOrder = InFileOrder.Hilbert

  final override def build(sample: RankedSample, files: Int): CutTree =
    learn(sample, DefaultWorkload.of(sample), files)

  final override def build(sample: RankedSample, queries: RankQueries, files: Int): CutTree =
    if (queries.weight > 0.0) learn(sample, queries, files) else build(sample, files)

  protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree
}

/**
 * The Z-order of the ranks, with files cut at the borders of its cells: the columns are halved in turn. Which
 * column begins, whether the columns keep to their turns, and whether cuts are made at halves of the ranks,
 * at halves of the rows or also at thirds of them, is decided by what look-ups of the sampled values would
 * read.
 */
object AlignedZ extends LayoutBuilder {
  override val name: String = "zorder"
  override val inFile: InFileOrder = InFileOrder.Hilbert

  override def build(sample: RankedSample, files: Int): CutTree = {
    val firsts = 0 until math.min(sample.columns, MostFirst)
    val candidates =
      firsts.map(new AlignedCuts(_, KeepTurns, Halves)) ++ firsts.map(new AlignedCuts(
        _,
        KeepTurns,
        Quantiles)) ++
        Seq(Halves, Quantiles, Thirds).map(new AlignedCuts(0, MostGain, _)) :+
        new AlignedCuts(0, MostGainOfAll, Thirds)
    val grown = InParallel.map(candidates) { candidate =>
      val g = candidate.grow(sample, files)
      (g.tree, lookUps(sample, g.leaves))
    }
    // the plain Z-order is the first
    ClearlyBetter.of(grown)
  }

  /** The mean share that look-ups read, and a little more where one column pays for another. */
  private def lookUps(sample: RankedSample, leaves: RankBlocks): Double =
    math.sqrt(LookUps.shares(sample, leaves).map(s => s * s).sum)

  /** The number of columns to try as the first one. */
  private val MostFirst = 3
}

/** The tree that reads least; of two that read about the same, the earlier one: noise must not decide. */
private object ClearlyBetter {
  private val Part = 0.995

  /** @param trees each with what is read of it */
  def of(trees: Seq[(CutTree, Double)]): CutTree =
    trees.reduceLeft((best, next) => if (next._2 < best._2 * Part) next else best)._1
}

/**
 * A plain sort by the columns, cut into files: a later column counts within one value of those before it.
 *
 * @param first
 *   the column that the sort begins with; the others follow in their order
 */
sealed class LexicalBy private[build] (override val name: String, first: Int) extends LayoutBuilder {

  /** The order inside the files takes the columns as they come, so it fits a sort by them only. */
  override val inFile: InFileOrder = if (first == 0) InFileOrder.Lexical else InFileOrder.Hilbert

  override def build(sample: RankedSample, files: Int): CutTree = recursion.grow(sample, files).tree

  private[this] val recursion: TreeGrower = new TreeGrower {
    override protected def propose(cell: SampleCell): Option[ProposedCut] =
      (first +: (0 until cell.columns).filter(_ != first)).iterator
        .filter(cell.extent(_).width > 1)
        .map(QuantileCuts.of(cell, _))
        .collectFirst { case cuts if cuts.nonEmpty => cuts.minBy(_._2)._1 }
  }
}

/** A sort by the columns in the order given. */
object Lexical extends LexicalBy("lexical", 0) {

  /** A sort that begins with this column. */
  def by(first: Int): LayoutBuilder =
    if (first == 0) this else new LexicalBy(s"$name$Beginning${first + 1}", first)

  /**
   * The column that a sort begins with, by the name that its builder gave the layout; None for other layouts.
   */
  def firstColumn(layout: String): Option[Int] =
    if (layout == name) Some(0)
    else if (layout.startsWith(name + Beginning)) Some(layout.drop(name.length + Beginning.length).toInt - 1)
    else None

  private val Beginning = " by column "
}

/** A k-d tree: the columns in turn are cut at the quantile that suits the files (Bentley 1975). */
object KdTree extends LayoutBuilder {
  override val name: String = "kd-tree"
  override val inFile: InFileOrder = InFileOrder.Hilbert

  override def build(sample: RankedSample, files: Int): CutTree =
    new AlignedCuts(0, AlignedCuts.KeepTurns, AlignedCuts.Quantiles).grow(sample, files).tree
}

/** A k-d tree whose column is chosen in every cell by what the queries gain. */
object QueryTree extends QueryBuilder("query-tree") {
  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree =
    new QueryCuts(queries, literals = false).grow(sample, files).tree
}

/** A query-weighted tree that may cut at the literals of the queries, for predicates that come again. */
object LiteralTree extends QueryBuilder("literal-tree") {
  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree =
    new QueryCuts(queries, literals = true).grow(sample, files).tree
}

/** Slices of the columns as many as the bound of the workload gives each; the best order of the columns. */
object SliceTree extends QueryBuilder("slices") {
  private val MostOrders = 4

  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree = {
    val bits = WorkloadShapes.bound(queries, sample)(files.toDouble).bits
    val columns = bits.indices
    val orders = (0 until math.min(MostOrders, columns.length)).map(k => columns.drop(k) ++ columns.take(k))
    val grown = orders.map(new SliceCuts(_, bits, files).grow(sample, files)).map(g =>
      (g.tree, g.leaves.share(queries)))
    ClearlyBetter.of(grown)
  }
}

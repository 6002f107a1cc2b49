package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankQueries
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

package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{QueryCuts, RankedSample}
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.CutTree

/** A query-weighted tree that may cut at the literals of the queries, for predicates that come again. */
object LiteralTree extends QueryBuilder("literal-tree") {
  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree =
    new QueryCuts(queries, literals = true).grow(sample, files).tree
}

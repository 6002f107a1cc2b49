package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{QueryCuts, RankedSample}
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.CutTree

/** A k-d tree whose column is chosen in every cell by what the queries gain. */
object QueryTree extends QueryBuilder("query-tree") {
  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree =
    new QueryCuts(queries, literals = false).grow(sample, files).tree
}

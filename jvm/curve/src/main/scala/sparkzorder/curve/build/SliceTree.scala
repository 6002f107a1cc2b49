package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{RankedSample, SliceCuts}
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.CutTree

/** Slices of the columns as many as the bound of the workload gives each; the best order of the columns. */
object SliceTree extends QueryBuilder("slices") {
  private val MostOrders = 4
  private val Clearly = 0.995

  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree = {
    val bits = WorkloadShapes.bound(queries, sample)(files.toDouble).bits
    val columns = bits.indices
    val orders = (0 until math.min(MostOrders, columns.length)).map(k => columns.drop(k) ++ columns.take(k))
    val grown = orders.map(new SliceCuts(_, bits, files).grow(sample, files)).map(g =>
      (g.tree, g.leaves.share(queries)))
    grown.reduceLeft((best, next) => if (next._2 < best._2 * Clearly) next else best)._1
  }
}

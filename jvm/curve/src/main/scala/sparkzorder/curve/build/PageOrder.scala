package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.InFileOrder

/** The order inside files that gives pages the sides which the bound of the workload wants. */
private[build] object PageOrder {

  /** None where the queries want pages that are as long in every column. */
  def of(sample: RankedSample, queries: RankQueries, pages: Double): Option[InFileOrder] = {
    val bits = WorkloadShapes.bound(queries, sample)(pages).bits
    val more = bits.map(b => math.round(b - bits.min).toInt)
    if (more.forall(_ == 0)) None else Some(InFileOrder.Stretched(more))
  }
}

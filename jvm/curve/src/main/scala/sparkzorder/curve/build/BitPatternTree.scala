package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{PatternCuts, RankedSample}
import sparkzorder.curve.cost.RankQueries
import sparkzorder.curve.layout.CutTree

/**
 * A Z-order with a learned pattern: which column gives the next bit is chosen by what the queries read
 * (greedily and then by single changes, as QUILTS patterns are: Nishimura and Yokota, SIGMOD 2017).
 */
object BitPatternTree extends QueryBuilder("bit-pattern") {

  /** Sampled rows per file: enough to compare patterns by the extents of their cells. */
  private val RowsPerFile = 40

  /** A change must be better by this factor: among near ties, the columns stay in turn. */
  private val Clearly = 0.995

  private val Rounds = 2

  override protected def learn(sample: RankedSample, queries: RankQueries, files: Int): CutTree = {
    val few = sample.thinned(math.max(4096, files * RowsPerFile))
    val pattern = learned(few, queries, files)
    Seq(false, true).map(new PatternCuts(pattern, _).grow(sample, files))
      .reduceLeft((a, b) => if (b.leaves.share(queries) < a.leaves.share(queries) * Clearly) b else a).tree
  }

  private def learned(sample: RankedSample, queries: RankQueries, files: Int): Array[Int] = {
    val depth = math.max(1, 33 - Integer.numberOfLeadingZeros(math.max(1, files - 1)))
    def cost(pattern: Array[Int]) =
      new PatternCuts(pattern, atQuantiles = false).grow(sample, files).leaves.share(queries)
    val turns = Array.tabulate(depth)(_ % sample.columns)
    val grown = (0 until depth).foldLeft(Array.empty[Int])((p, _) => p :+ next(p, sample.columns, cost))
    val first = Seq(turns, grown).map(p => (p, cost(p))).reduceLeft((a, b) =>
      if (b._2 < a._2 * Clearly) b else a)
    changed(first, sample.columns, cost)
  }

  /** The column whose bit lowers the cost most; of near equals, the one used least. */
  private def next(pattern: Array[Int], columns: Int, cost: Array[Int] => Double): Int = {
    val costs = (0 until columns).map(c => cost(pattern :+ c))
    (0 until columns).filter(costs(_) <= costs.min / Clearly).minBy(c => pattern.count(_ == c))
  }

  /** Changes of single bits while one helps. */
  private def changed(
      start: (Array[Int], Double),
      columns: Int,
      cost: Array[Int] => Double): Array[Int] = {
    var (best, least) = start
    var round = 0
    var improved = true
    while (improved && round < Rounds) {
      improved = false
      round += 1
      for (bit <- best.indices; column <- 0 until columns if best(bit) != column) {
        val other = best.updated(bit, column)
        val costs = cost(other)
        if (costs < least * Clearly) {
          best = other
          least = costs
          improved = true
        }
      }
    }
    best
  }
}

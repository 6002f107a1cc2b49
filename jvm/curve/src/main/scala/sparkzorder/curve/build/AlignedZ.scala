package sparkzorder.curve.build

import sparkzorder.curve.build.cut.AlignedCuts._
import sparkzorder.curve.build.cut.{AlignedCuts, RankedSample}
import sparkzorder.curve.cost.RankBlocks
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/**
 * The Z-order of the ranks, with files cut at the borders of its cells: the columns are halved in turn.
 * Which column begins, whether the columns keep to their turns, and whether cuts are made at halves of the ranks, at
 * halves of the rows or also at thirds of them, is decided by what look-ups of the sampled values would read.
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
    // the plain Z-order, which is the first, unless another is clearly better: noise must not decide
    grown.reduceLeft((best, next) => if (next._2 < best._2 * Clearly) next else best)._1
  }

  /** The mean share that look-ups read, and a little more where one column pays for another. */
  private def lookUps(sample: RankedSample, leaves: RankBlocks): Double =
    math.sqrt(LookUps.shares(sample, leaves).map(s => s * s).sum)

  /** The number of columns to try as the first one. */
  private val MostFirst = 3

  private val Clearly = 0.995
}

package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{AlignedCuts, RankedSample}
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/** A k-d tree: the columns in turn are cut at the quantile that suits the files (Bentley 1975). */
object KdTree extends LayoutBuilder {
  override val name: String = "kd-tree"
  override val inFile: InFileOrder = InFileOrder.Hilbert

  override def build(sample: RankedSample, files: Int): CutTree =
    new AlignedCuts(0, AlignedCuts.KeepTurns, AlignedCuts.Quantiles).grow(sample, files).tree
}

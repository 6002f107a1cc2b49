package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{AlignedCuts, RankedSample}
import sparkzorder.curve.build.cut.AlignedCuts._
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/** K-d trees to compare the aligned Z-order with. */
object KdTrees {
  val halves: LayoutBuilder = of("k-d, halves", MostGain, Quantiles)

  val all: Seq[LayoutBuilder] = Seq(
    of("k-d in turns", KeepTurns, Quantiles),
    of("k-d with thirds", MostGain, Thirds),
    of("k-d with thirds, all columns", MostGainOfAll, Thirds))

  private def of(label: String, choice: Choice, places: Places): LayoutBuilder = new LayoutBuilder {
    override val name: String = label
    override val inFile: InFileOrder = InFileOrder.Hilbert
    override def build(sample: RankedSample, files: Int): CutTree =
      new AlignedCuts(0, choice, places).grow(sample, files).tree
  }
}

package sparkzorder.curve.build

import sparkzorder.curve.layout.{CutTree, InFileOrder}

/** A plain sort by the columns in the order given, cut into files: the second column counts within a value. */
object Lexical extends LayoutBuilder {
  override val name: String = "lexical"
  override val inFile: InFileOrder = InFileOrder.Lexical

  override def build(sample: RankedSample, files: Int): CutTree = recursion.grow(sample, files).tree

  private val recursion: Recursion = new Recursion {
    override protected def propose(cell: SampleCell): Option[Proposal] =
      (0 until cell.columns).iterator
        .filter(cell.extent(_).width > 1)
        .map(QuantileCuts.of(cell, _))
        .collectFirst { case cuts if cuts.nonEmpty => cuts.minBy(_._2)._1 }
  }
}

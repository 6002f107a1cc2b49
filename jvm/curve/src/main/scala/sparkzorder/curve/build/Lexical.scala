package sparkzorder.curve.build

import sparkzorder.curve.build.cut.{Proposal, QuantileCuts, RankedSample, SampleCell, TreeGrower}
import sparkzorder.curve.layout.{CutTree, InFileOrder}

/**
 * A plain sort by the columns, cut into files: a later column counts within one value of those before it.
 *
 * @param first
 *   the column that the sort begins with; the others follow in their order
 */
sealed class LexicalBy private[build] (override val name: String, first: Int) extends LayoutBuilder {

  /** The order inside the files takes the columns as they come, so it fits a sort by them only. */
  override val inFile: InFileOrder = if (first == 0) InFileOrder.Lexical else InFileOrder.Hilbert

  override def build(sample: RankedSample, files: Int): CutTree = recursion.grow(sample, files).tree

  private[this] val recursion: TreeGrower = new TreeGrower {
    override protected def propose(cell: SampleCell): Option[Proposal] =
      (first +: (0 until cell.columns).filter(_ != first)).iterator
        .filter(cell.extent(_).width > 1)
        .map(QuantileCuts.of(cell, _))
        .collectFirst { case cuts if cuts.nonEmpty => cuts.minBy(_._2)._1 }
  }
}

/** A sort by the columns in the order given. */
object Lexical extends LexicalBy("lexical", 0) {

  /** A sort that begins with this column. */
  def by(first: Int): LayoutBuilder =
    if (first == 0) this else new LexicalBy(s"$name$Beginning${first + 1}", first)

  /** The column that a sort begins with, by the name that its builder gave the layout; None for other layouts. */
  def firstColumn(layout: String): Option[Int] =
    if (layout == name) Some(0)
    else if (layout.startsWith(name + Beginning)) Some(layout.drop(name.length + Beginning.length).toInt - 1)
    else None

  private val Beginning = " by column "
}

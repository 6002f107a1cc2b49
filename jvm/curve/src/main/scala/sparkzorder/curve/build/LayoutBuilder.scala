package sparkzorder.curve.build

import sparkzorder.curve.layout.{Cut, CutTree, InFileOrder, Leaf}

/** Makes the tree of cuts of a layout from a sample. Deterministic: the same sample, the same tree. */
trait LayoutBuilder {

  /** The name in `USING CURVE` and in reports. */
  def name: String

  /** The order inside the files that goes with the tree. */
  def inFile: InFileOrder

  /** @param files how many files the tree should have; fewer where the sample has no more distinct keys */
  def build(sample: RankedSample, files: Int): CutTree
}

/** A cut that a builder proposes for a cell: below `rank` in `column` go `leftFiles` of the cell's files. */
final private[build] case class Proposal(column: Int, rank: Int, leftFiles: Int)

/** The recursion that all builders share: propose a cut, part the sampled rows, go on in both halves. */
abstract private[build] class RecursiveBuilder extends LayoutBuilder {

  /** A cut of this cell, or None to leave it as it is. */
  protected def propose(cell: SampleCell): Option[Proposal]

  override def build(sample: RankedSample, files: Int): CutTree = {
    val heavy = sample.heavy(files)
    val order = Array.range(0, sample.rows)
    val target = sample.rows.toDouble / files
    def grow(cell: SampleCell): CutTree =
      if (cell.files <= 1) Leaf(1)
      else
        propose(cell) match {
          case Some(p) =>
            val (left, right) = cell.part(p.column, p.rank, p.leftFiles)
            Cut(p.column, p.rank, grow(left), grow(right))
          case None => Leaf(cell.spreadFiles)
        }
    grow(SampleCell.root(sample, heavy, order, files, target))
  }
}

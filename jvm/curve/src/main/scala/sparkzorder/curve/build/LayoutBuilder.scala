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
abstract private[build] class Recursion {

  /** The column whose turn it is first. */
  protected def firstTurn: Int = 0

  /** A cut of this cell, or None to leave it as it is. */
  protected def propose(cell: SampleCell): Option[Proposal]

  final def grow(sample: RankedSample, files: Int): Grown = {
    val heavy = sample.heavy(files)
    val order = Array.range(0, sample.rows)
    val target = sample.rows.toDouble / files
    val cost = new Array[Double](sample.columns)
    def leaf(cell: SampleCell, files: Int): CutTree = {
      cost.indices.foreach(c => cost(c) += cell.rows * cell.cover(c, 0, Int.MaxValue) / sample.rows)
      Leaf(files)
    }
    def grown(cell: SampleCell): CutTree =
      if (cell.files > 1) divided(cell)
      else if (cell.rows > Recursion.Overfull * target) divided(cell.withFiles(2))
      else leaf(cell, 1)
    def divided(cell: SampleCell): CutTree =
      propose(cell) match {
        case Some(p) =>
          val (left, right) = cell.part(p.column, p.rank, p.leftFiles)
          Cut(p.column, p.rank, grown(left), grown(right))
        case None => leaf(cell, FileShares.spread(cell))
      }
    if (sample.rows == 0) Grown(Leaf(1), cost)
    else Grown(grown(SampleCell.root(sample, heavy, order, files, target, firstTurn)), cost)
  }
}

private[build] object Recursion {

  /**
   * A single file with more rows than so many times the mean is cut once more. Files are bounded by twice the
   * mean; the rest is room for the error of the sample. Less would give more files than were asked for.
   */
  val Overfull = 1.75
}

/** A tree and the share of the files that a look-up on each column reads in the sample. */
final private[build] case class Grown(tree: CutTree, shares: Array[Double]) {

  /** The mean share read, and a little more where one column pays for another. */
  def cost: Double = math.sqrt(shares.map(s => s * s).sum)
}

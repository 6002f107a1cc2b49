package sparkzorder.curve.build.cut

import sparkzorder.curve.cost.RankBlocks
import sparkzorder.curve.layout.{Cut, CutTree, Leaf}

/**
 * A cut that a builder proposes for a cell: below `rank` in `column` go `leftFiles` of the cell's files.
 *
 * @param nextTurn
 *   the turn of both sides (see [[SampleCell]]); the number of the column after this one if not given
 */
final private[build] case class ProposedCut(
    column: Int,
    rank: Int,
    leftFiles: Int,
    nextTurn: Option[Int] = None)

/** Grows the tree of a layout: proposes a cut, splits the sampled rows, and continues in both halves. */
abstract private[build] class TreeGrower {

  /** The turn of the first cell, which has all rows. */
  protected def firstTurn: Int = 0

  /** A cut of this cell, or None to leave it as it is. */
  protected def propose(cell: SampleCell): Option[ProposedCut]

  final def grow(sample: RankedSample, files: Int): GrownTree = {
    val order = Array.range(0, sample.rows)
    val target = sample.rows.toDouble / files
    val starts = Array.newBuilder[Int]
    var placed = 0
    def leaf(cell: SampleCell, files: Int): CutTree = {
      starts += placed
      placed += cell.rows
      Leaf(files)
    }
    def grown(cell: SampleCell): CutTree =
      if (cell.files > 1) divided(cell)
      else if (cell.rows > TreeGrower.Overfull * target) divided(cell.withFiles(2))
      else leaf(cell, 1)
    def divided(cell: SampleCell): CutTree =
      propose(cell) match {
        case Some(p) =>
          val (left, right) = cell.part(p)
          val before = grown(left)
          Cut(p.column, p.rank, before, grown(FileAllocation.evenedOut(right, left.files - before.files)))
        case None => leaf(cell, FileAllocation.spread(cell))
      }
    val tree =
      if (sample.rows == 0) Leaf(1)
      else grown(SampleCell.root(sample, sample.heavy(files), order, files, target, firstTurn))
    starts += placed
    GrownTree(tree, RankBlocks.of(sample.ranks, order, starts.result()))
  }
}

object TreeGrower {

  /**
   * A single file with more than this many times the mean rows is cut once more. Files are bounded by twice
   * the mean; the rest is room for the error of the sample. Less would give more files than were asked for.
   */
  val Overfull = 1.75
}

/** A tree and its leaves as blocks of the sample that it was grown on. */
final private[build] case class GrownTree(tree: CutTree, leaves: RankBlocks)

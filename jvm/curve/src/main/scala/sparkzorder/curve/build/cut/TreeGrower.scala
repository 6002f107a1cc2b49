package sparkzorder.curve.build.cut

import sparkzorder.curve.cost.RankBlocks
import sparkzorder.curve.layout.{Cut, CutTree, Leaf, RankSpan, Scale}

/**
 * A cut that a builder proposes for a cell: below `rank` in `column` go `leftFiles` of the cell's files.
 *
 * @param nextTurn
 *   the turn of both sides; the column after this one if not given
 */
final private[build] case class ProposedCut(
    column: Int,
    rank: Int,
    leftFiles: Int,
    nextTurn: Option[Int] = None)

/** Grows the tree of a layout: proposes a cut, splits the sampled rows, and continues in both halves. */
abstract private[build] class TreeGrower {

  /** The column whose turn is first. */
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

private[build] object TreeGrower {

  /**
   * A single file with more than this many times the mean rows is cut once more. Files are bounded by twice the
   * mean; the rest is room for the error of the sample. Less would give more files than were asked for.
   */
  val Overfull = 1.75
}

/** A tree and its leaves as blocks of the sample that it was grown on. */
final private[build] case class GrownTree(tree: CutTree, leaves: RankBlocks)

/**
 * A cell while the tree grows: some of the sampled rows, the box of ranks they lie in, and the number of
 * files they are to become. Rows are a slice of one shared permutation, parted in place.
 *
 * @param target
 *   sampled rows per file over the whole table
 * @param turn
 *   whose turn it is to be cut, in the builder's own count
 */
final private[build] class SampleCell(
    val sample: RankedSample,
    val heavy: IndexedSeq[Array[RankSpan]],
    order: Array[Int],
    from: Int,
    until: Int,
    val box: IndexedSeq[RankSpan],
    val files: Int,
    val target: Double,
    val turn: Int) {

  def columns: Int = sample.columns

  def rows: Int = until - from

  /** Number in the sample of the cell's i-th row. */
  def row(i: Int): Int = order(from + i)

  private[this] val extents = new Array[RankSpan](columns)

  /** Least and greatest rank of a column in the cell; found once, while the rows are where they are. */
  def extent(column: Int): RankSpan = {
    if (extents(column) == null) extents(column) = measured(column)
    extents(column)
  }

  private def measured(column: Int): RankSpan = {
    val ranks = sample.ranks(column)
    var lo = Int.MaxValue
    var hi = Int.MinValue
    var i = from
    while (i < until) {
      val r = ranks(order(i))
      if (r < lo) lo = r
      if (r > hi) hi = r
      i += 1
    }
    RankSpan(lo, hi + 1)
  }

  def rowsBelow(column: Int, rank: Int): Int = {
    val ranks = sample.ranks(column)
    var n = 0
    var i = from
    while (i < until) {
      if (ranks(order(i)) < rank) n += 1
      i += 1
    }
    n
  }

  private[this] val sorted = new Array[Array[Int]](columns)

  /** The ranks of a column in the cell, ascending; found once, and not to be changed. */
  def sortedRanks(column: Int): Array[Int] = {
    if (sorted(column) == null) {
      val ranks = sample.ranks(column)
      val out = new Array[Int](rows)
      var i = 0
      while (i < out.length) {
        out(i) = ranks(order(from + i))
        i += 1
      }
      sorted(column) = RankSort.ascending(out)
    }
    sorted(column)
  }

  /** Rows per file, relative to the table's mean, if `files` of the cell's files get `rows` rows. */
  def load(rows: Int, files: Int): Double = rows / files / target

  /** This cell, to be cut into `n` files. */
  def withFiles(n: Int): SampleCell = new SampleCell(sample, heavy, order, from, until, box, n, target, turn)

  /** The two cells on either side of a cut. */
  def part(cut: ProposedCut): (SampleCell, SampleCell) = {
    import cut.{column, leftFiles, rank}
    // not needed any more, and as long as the table
    java.util.Arrays.fill(sorted.asInstanceOf[Array[AnyRef]], null)
    val ranks = sample.ranks(column)
    var i = from
    var j = until - 1
    while (i <= j) {
      if (ranks(order(i)) < rank) i += 1
      else {
        val swapped = order(i)
        order(i) = order(j)
        order(j) = swapped
        j -= 1
      }
    }
    val span = box(column)
    def half(a: Int, b: Int, ranks: RankSpan, n: Int) =
      new SampleCell(
        sample,
        heavy,
        order,
        a,
        b,
        box.updated(column, ranks),
        n,
        target,
        cut.nextTurn.getOrElse((column + 1) % columns))
    (
      half(from, i, RankSpan(span.from, rank), leftFiles),
      half(i, until, RankSpan(rank, span.until), files - leftFiles))
  }
}

private[build] object SampleCell {
  def root(
      sample: RankedSample,
      heavy: IndexedSeq[Array[RankSpan]],
      order: Array[Int],
      files: Int,
      target: Double,
      turn: Int): SampleCell = {
    val box = IndexedSeq.fill(sample.columns)(RankSpan(0, Scale.One))
    new SampleCell(sample, heavy, order, 0, order.length, box, files, target, turn)
  }
}

/**
 * How the files of a cell are divided between the two sides of a cut. Halves are preferred, since they keep the
 * cells alike; a side may have 0.7 to 1.4 times the table's mean rows per file.
 */
private[build] object FileAllocation {
  private val Least = 0.7
  val Most = 1.4

  /** A side with fewer rows than this share of a file is not cut off; a quarter, with room for sampling. */
  val SmallestFile = 0.3

  /** Files of the left side, or None if no share keeps both sides within bounds. */
  def within(cell: SampleCell, leftRows: Int): Option[Int] = {
    val rightRows = cell.rows - leftRows
    val m = cell.files
    val half = if (leftRows <= rightRows) m / 2 else m - m / 2
    Seq(half, m - half, byMass(cell, leftRows)).find(alike(cell, leftRows, _))
  }

  /** Whether both sides of a cut keep near the table's mean rows per file. */
  def alike(cell: SampleCell, leftRows: Int, leftFiles: Int): Boolean =
    loads(cell, leftRows, leftFiles, Least)

  /** Files of the left side by its rows, also where that leaves a small file; None if it were too small. */
  def setApart(cell: SampleCell, leftRows: Int): Option[Int] =
    Some(byMass(cell, leftRows)).filter(loads(cell, leftRows, _, SmallestFile))

  private def loads(cell: SampleCell, leftRows: Int, leftFiles: Int, least: Double): Boolean = {
    val a = cell.load(leftRows, leftFiles)
    val b = cell.load(cell.rows - leftRows, cell.files - leftFiles)
    a >= least && a <= Most && b >= least && b <= Most
  }

  /** Files of the left side in proportion to its rows, at least one for each side. */
  def byMass(cell: SampleCell, leftRows: Int): Int = {
    val share = math.round(cell.files.toDouble * leftRows / cell.rows).toInt
    math.max(1, math.min(cell.files - 1, share))
  }

  /**
   * Files that a cell becomes which no cut divides: as many as it was meant for, unless these would be far
   * too large or too small.
   */
  def spread(cell: SampleCell): Int = {
    val load = cell.load(cell.rows, cell.files)
    if (load >= 0.6 && load <= TreeGrower.Overfull) cell.files
    else math.max(1, math.round(cell.rows / cell.target).toInt)
  }

  /** The cell with `more` files that its neighbour did not use, if its files then are still about equal. */
  def evenedOut(cell: SampleCell, more: Int): SampleCell = {
    val files = math.max(1, cell.files + more)
    val load = cell.load(cell.rows, files)
    if (more == 0 || load < Least || load > Most) cell else cell.withFiles(files)
  }

  /** How far the worse side is from the mean, as a ratio >= 1. */
  def imbalance(cell: SampleCell, leftRows: Int, leftFiles: Int): Double = {
    def off(load: Double) = math.max(load, 1.0 / load)
    math.max(
      off(cell.load(leftRows, leftFiles)),
      off(cell.load(cell.rows - leftRows, cell.files - leftFiles)))
  }
}

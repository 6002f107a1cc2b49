package sparkzorder.curve.layout

/**
 * The one cell scheme of every layout: a binary tree of cuts in the columns' ranks whose leaves, from left
 * to right, are the files. A rank is a non-decreasing function of the value, so a cut in ranks is a cut in
 * values, and NULL, whose rank is 0, is always on the left.
 */
sealed trait CutTree extends Serializable {

  /** Number of files under this node. */
  def files: Int

  def depth: Int
}

/** Rows whose rank in `column` is below `rank` go left, the others right. */
final case class Cut(column: Int, rank: Int, left: CutTree, right: CutTree) extends CutTree {
  override val files: Int = left.files + right.files
  override val depth: Int = 1 + math.max(left.depth, right.depth)
}

/**
 * A cell that no cut divides further.
 *
 * @param files
 *   1, or more where the sampled keys of an over-full cell are all equal: its rows are spread over so
 *   many files by a hash of the whole row
 */
final case class Leaf(files: Int) extends CutTree {
  override def depth: Int = 0
}

/** A leaf with its place: the span of ranks of each column, and the number of its first file. */
final case class Cell(firstFile: Int, files: Int, box: IndexedSeq[RankSpan])

object CutTree {

  /** The column that all cuts are in, so that the files are those of a plain sort by it; None without cuts. */
  def onlyColumn(tree: CutTree): Option[Int] = {
    def columns(node: CutTree): Set[Int] = node match {
      case Leaf(_) => Set.empty
      case Cut(column, _, left, right) => columns(left) ++ columns(right) + column
    }
    Some(columns(tree)).filter(_.size == 1).map(_.head)
  }

  /** The leaves from left to right with their boxes. */
  def cells(tree: CutTree, columns: Int): IndexedSeq[Cell] = {
    val out = IndexedSeq.newBuilder[Cell]
    var next = 0
    def walk(node: CutTree, box: IndexedSeq[RankSpan]): Unit = node match {
      case Leaf(files) =>
        out += Cell(next, files, box)
        next += files
      case Cut(column, rank, left, right) =>
        val span = box(column)
        walk(left, box.updated(column, RankSpan(span.from, math.min(rank, span.until))))
        walk(right, box.updated(column, RankSpan(math.max(rank, span.from), span.until)))
    }
    walk(tree, IndexedSeq.fill(columns)(RankSpan(0, Scale.One)))
    out.result()
  }
}

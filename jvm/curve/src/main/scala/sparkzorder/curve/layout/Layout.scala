package sparkzorder.curve.layout

/**
 * A clustering column of a layout.
 *
 * @param sql
 *   the column or expression as SQL
 * @param dataType
 *   its Spark type as DDL; the values of another type would not fit the scale
 */
final case class LayoutColumn(sql: String, dataType: String, scale: Scale)

/**
 * Where every row goes: a value, fitted once on a sample and then fixed, so that later runs and writers use
 * the same space.
 *
 * @param curve
 *   name of the builder that made the tree, as `zorder` or `lexical`
 */
final case class Layout(
    columns: IndexedSeq[LayoutColumn],
    tree: CutTree,
    curve: String,
    inFile: InFileOrder) {
  inFile match {
    case InFileOrder.Stretched(bits) => require(bits.length == columns.length, "one number of bits a column")
    case InFileOrder.Hilbert | InFileOrder.Lexical =>
  }

  def files: Int = tree.files

  /** Whether the rows of a file are sorted by the first column, then the second, ... */
  def sorts: Boolean = inFile == InFileOrder.Lexical

  /** Whether such a sort takes the values of the columns, since their ranks would leave some unsorted. */
  def sortsByValues: Boolean = sorts && columns.exists(_.scale match {
    case bytes: BytesScale => bytes.hasTies
    case _ => false
  })

  def compiled: CompiledLayout = new CompiledLayout(columns.map(_.scale).toArray, tree, inFile)
}

/** The order of the rows inside a file. `name` describes it fully: `named` turns it back into the order. */
sealed abstract class InFileOrder(val name: String) extends Serializable

object InFileOrder {

  /** Hilbert curve over the ranks within the file: row groups and pages skip on every column. */
  case object Hilbert extends InFileOrder("hilbert")

  /** Sorted by the first column, then the second, ... */
  case object Lexical extends InFileOrder("lexical")

  /**
   * A Hilbert curve over cells that are stretched first, so that pages become narrower in some columns.
   *
   * @param bits
   *   per column, how many more of the halvings inside a file it gets than the others
   */
  final case class Stretched(bits: IndexedSeq[Int])
      extends InFileOrder("hilbert" + bits.mkString(" ", " ", ""))

  def named(name: String): InFileOrder = name match {
    case Hilbert.name => Hilbert
    case Lexical.name => Lexical
    case other if other.matches("hilbert( -?\\d{1,2})+") =>
      Stretched(other.split(' ').tail.map(_.toInt).toIndexedSeq)
    case other => throw new IllegalArgumentException(s"unknown order inside files: $other")
  }
}

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

  /**
   * The column that all cuts are in, so that the files are those of a plain sort by it; None without cuts.
   */
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

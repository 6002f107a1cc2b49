package sparkzorder.curve.layout

/**
 * A clustering column of a layout.
 *
 * @param sql
 *   the column or expression as SQL
 * @param dataType
 *   its Spark type as DDL; the words of another type would not fit the scale
 */
final case class LayoutColumn(sql: String, dataType: String, scale: Scale)

/** The order of the rows inside a file. */
sealed abstract class InFileOrder(val name: String) extends Serializable

object InFileOrder {

  /** Hilbert curve over the ranks within the file: row groups and pages skip on every column. */
  case object Hilbert extends InFileOrder("hilbert")

  /** Sorted by the first column, then the second, ... */
  case object Lexical extends InFileOrder("lexical")

  def named(name: String): InFileOrder = name match {
    case Hilbert.name => Hilbert
    case Lexical.name => Lexical
    case other => throw new IllegalArgumentException(s"unknown order inside files: $other")
  }
}

/**
 * Where every row goes: a value, fitted once on a sample and then fixed, so that later runs and writers use
 * the same space.
 *
 * @param curve
 *   the builder that made the tree: `zorder` or `lexical`
 */
final case class Layout(
    columns: IndexedSeq[LayoutColumn],
    tree: CutTree,
    curve: String,
    inFile: InFileOrder) {

  def files: Int = tree.files

  def compiled: CompiledLayout = new CompiledLayout(columns.map(_.scale).toArray, tree, inFile)
}

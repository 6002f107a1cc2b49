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

  def compiled: CompiledLayout = new CompiledLayout(columns.map(_.scale).toArray, tree, inFile)
}

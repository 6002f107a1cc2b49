package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.Normalization
import sparkzorder.curve.layout.{CompiledLayout, CutTree, Layout}

/**
 * A layout inside an expression. Plans, EXPLAIN and event logs show its id only: boundaries are data.
 *
 * @param id
 *   sixteen hex digits of the layout's hash; eight where an earlier version has stored it
 */
final class LayoutRef(val id: String, val layout: Layout) extends Serializable {

  /** Compiled where it is used: a task gets only the layout and compiles it once. */
  @transient lazy val compiled: CompiledLayout = layout.compiled

  /** Whether it is of columns of these types: those of a table may have changed since. */
  def fits(types: Seq[DataType]): Boolean =
    layout.columns.length == types.length &&
      layout.columns.zip(types).forall { case (c, dataType) => LayoutRef.isOf(c.dataType, dataType) }

  /** Whether a value that has more rows than a file holds is spread over several files. */
  def spreadsHeavy: Boolean = CutTree.cells(layout.tree, layout.columns.length).exists(_.files > 1)

  override def toString: String = id

  override def equals(other: Any): Boolean = other match {
    case that: LayoutRef => that.id == id
    case _ => false
  }

  override def hashCode(): Int = id.hashCode
}

object LayoutRef {

  /** Whether a column of the type is what a layout calls so: earlier builds named a VARCHAR with its length. */
  private[layout] def isOf(named: String, dataType: DataType): Boolean =
    named == Normalization.typeName(dataType) || named == dataType.sql
}

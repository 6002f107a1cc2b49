package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.DataType
import sparkzorder.curve.page.PageCut

/**
 * A layout key that asks the sort which has it as its last order to cut the rows of a file at the borders of its pages.
 * By itself it is the key alone: a sort that knows nothing of pages orders by that.
 *
 * @param child
 *   a [[ZOrderKey]]
 */
final case class ZOrderPages(child: Expression, cut: PageCut) extends UnaryExpression {
  override def dataType: DataType = child.dataType
  override def nullable: Boolean = false
  override def prettyName: String = "zorder_pages"

  override protected def nullSafeEval(key: Any): Any = key

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = child.genCode(ctx)

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

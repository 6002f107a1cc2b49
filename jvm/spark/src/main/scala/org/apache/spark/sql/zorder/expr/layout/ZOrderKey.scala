package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType, LongType}
import org.apache.spark.sql.zorder.expr.Normalization
import sparkzorder.curve.layout.CompiledLayout
import sparkzorder.curve.page.PageCut

/**
 * `zorder_key(layout, columns...)` -> BIGINT >= 0: the file number of the row in its layout, then its place
 * inside the file. Sorting by it puts rows into layout order. Never NULL.
 */
final case class ZOrderKey(layouts: PartitionLayouts, route: Option[Expression], columns: Seq[Expression])
    extends LayoutExpression {
  override def children: Seq[Expression] = columns ++ route
  override def dataType: DataType = LongType
  override def prettyName: String = "zorder_key"

  override def eval(input: InternalRow): Any = {
    val layout = layouts.compiled(routeOf(input))
    fillRanks(layout, input)
    val cell = layout.cell(ranks)
    layout.key(cell, layout.fileOf(cell), ranks, scratch)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val RanksCode(fill, layout, ranks, _) = ranksCode(ctx)
    val scratch =
      ctx.addMutableState("int[]", "scratch", v => s"$v = new int[${columns.length}];", forceInline = true)
    val cell = ctx.freshName("cell")
    ev.copy(
      code = code"""
        $fill
        int $cell = $layout.cell($ranks);
        long ${ev.value} = $layout.key($cell, $layout.fileOf($cell), $ranks, $scratch);""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression =
    copy(route = route.map(_ => newChildren.last), columns = newChildren.take(columns.length))
}

object ZOrderKey {
  def apply(ref: LayoutRef, columns: Seq[Expression]): ZOrderKey =
    ZOrderKey(PartitionLayouts.one(ref), None, columns)
}

/**
 * Marks a sort whose last order is a layout key: PageSortExec then orders the rows of a file by its pages.
 * Its value is that of the key, so any other sort orders by the key alone.
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

/**
 * The rank of one column in a layout: an INT, 0 for NULL. Made inside a task, which has compiled the layout.
 *
 * @param place
 *   of the column in the layout
 */
final case class RankOf(child: Expression, layout: CompiledLayout, place: Int) extends UnaryExpression {
  override def dataType: DataType = IntegerType
  override def nullable: Boolean = false
  override def prettyName: String = "layout_rank"

  private def normalizedType = Normalization.of(child.dataType).get

  override def eval(input: InternalRow): Any = Ranks.of(layout, place, normalizedType, child.eval(input))

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val compiled = ctx.addReferenceObj("layout", layout, classOf[CompiledLayout].getName)
    val value = child.genCode(ctx)
    ev.copy(
      code = code"""
        ${value.code}
        int ${ev.value} = ${Ranks.code(compiled, place, normalizedType, value)};""",
      isNull = FalseLiteral)
  }

  override def toString: String = s"$prettyName($child)"

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, LongType}

/**
 * `zorder_key(layout, columns...)` -> BIGINT >= 0: the file number of the row in its layout, then its place
 * inside the file. Sorting by it puts rows into layout order. Never NULL.
 */
final case class ZOrderKey(routes: PartitionLayouts, route: Option[Expression], columns: Seq[Expression])
    extends LayoutExpression {
  override def children: Seq[Expression] = columns ++ route
  override def dataType: DataType = LongType
  override def prettyName: String = "zorder_key"

  override def eval(input: InternalRow): Any = {
    val layout = routes.compiled(routeOf(input))
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
    ZOrderKey(PartitionLayouts(IndexedSeq(ref)), None, columns)
}

package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, Murmur3Hash}
import org.apache.spark.sql.catalyst.expressions.codegen._
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType}

/**
 * `zorder_file(layout, columns... [, more columns...])` -> INT: the number of the file that the layout gives
 * the row, from 0. Never NULL.
 *
 * A cell whose keys are all equal and that has more rows than a file holds is spread over several files by
 * a hash of the further columns; without any, its rows go to its first file.
 */
final case class ZOrderFile(
    layouts: PartitionLayouts,
    route: Option[Expression],
    columns: Seq[Expression],
    spread: Option[Expression])
    extends LayoutExpression {
  override def children: Seq[Expression] = columns ++ route ++ spread
  override def dataType: DataType = IntegerType
  override def prettyName: String = "zorder_file"

  override def eval(input: InternalRow): Any = {
    val to = routeOf(input)
    val layout = layouts.compiled(to)
    fillRanks(layout, input)
    val cell = layout.cell(ranks)
    val hash =
      if (layout.spreadOf(cell) == 1) 0 else spread.map(_.eval(input).asInstanceOf[Int]).getOrElse(0)
    layouts.firstFile(to) + layout.file(cell, hash)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val RanksCode(fill, layout, ranks, firstFile) = ranksCode(ctx)
    val cell = ctx.freshName("cell")
    val hash = ctx.freshName("hash")
    val hashed = spread
      .map { expression =>
        val value = expression.genCode(ctx)
        s"if ($layout.spreadOf($cell) > 1) {\n${value.code}\n$hash = ${value.value};\n}"
      }
      .getOrElse("")
    ev.copy(
      code = code"""
        $fill
        int $cell = $layout.cell($ranks);
        int $hash = 0;
        $hashed
        int ${ev.value} = $firstFile + $layout.file($cell, $hash);""",
      isNull = FalseLiteral)
  }

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): Expression = {
    val (forColumns, others) = newChildren.splitAt(columns.length)
    copy(
      columns = forColumns,
      route = route.map(_ => others.head),
      spread = spread.map(_ => others.last))
  }
}

object ZOrderFile {

  /** @param further columns beyond the layout's own, hashed to spread cells of equal keys */
  def apply(ref: LayoutRef, columns: Seq[Expression], further: Seq[Expression]): ZOrderFile =
    ZOrderFile(PartitionLayouts.one(ref), None, columns, spreadBy(further))

  def spreadBy(further: Seq[Expression]): Option[Expression] =
    if (further.isEmpty) None else Some(Murmur3Hash(further, 42))
}

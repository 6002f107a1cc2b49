package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.expressions.{Expression, UnaryExpression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.types.{DataType, IntegerType}
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.sql.zorder.expr.word.{BytesWordType, LongWordType}
import sparkzorder.curve.layout.CompiledLayout

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

  private def wordType = WordTypes.of(child.dataType).get

  override def eval(input: InternalRow): Any = {
    val value = child.eval(input)
    if (value == null) 0
    else
      wordType match {
        case t: LongWordType => layout.rank(place, t.toLong(value))
        case t: BytesWordType => layout.rank(place, t.toBytes(value))
      }
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val compiled = ctx.addReferenceObj("layout", layout, classOf[CompiledLayout].getName)
    val value = child.genCode(ctx)
    val word = wordType match {
      case t: LongWordType => t.code(value.value.toString)
      case t: BytesWordType => t.code(value.value.toString)
    }
    ev.copy(
      code = code"""
        ${value.code}
        int ${ev.value} = ${value.isNull} ? 0 : $compiled.rank($place, $word);""",
      isNull = FalseLiteral)
  }

  override def toString: String = s"$prettyName($child)"

  override protected def withNewChildInternal(newChild: Expression): Expression = copy(child = newChild)
}

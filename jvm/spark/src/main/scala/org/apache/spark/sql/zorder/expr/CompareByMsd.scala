package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BinaryExpression, CreateNamedStruct, Expression}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{DataType, IntegerType, StructType}
import sparkzorder.curve.{KeyShape, MsdOrder}

/**
 * Compares the `zorder` keys of two structs of the same field types without building them: the most significant
 * bit in which two words differ (MSD) decides. The fields of
 * a `struct(...)` are taken as they are: the struct itself is not built.
 */
case class CompareByMsd(left: Expression, right: Expression) extends BinaryExpression {
  override def prettyName: String = "zorder_compare"

  override def dataType: DataType = IntegerType

  // eval writes into two scratch arrays
  override def stateful: Boolean = true

  private def fieldTypes: Seq[DataType] = left.dataType.asInstanceOf[StructType].fields.toSeq.map(_.dataType)

  @transient private lazy val layout: RowWords = RowWords(fieldTypes)
  @transient private lazy val leftWords: Array[Long] = layout.scratch()
  @transient private lazy val rightWords: Array[Long] = layout.scratch()

  override def eval(input: InternalRow): Any =
    if (fill(left, leftWords, input) && fill(right, rightWords, input))
      MsdOrder.compare(layout.shape, leftWords, rightWords)
    else null

  /** False if the struct is NULL. */
  private def fill(side: Expression, words: Array[Long], input: InternalRow): Boolean = side match {
    case s: CreateNamedStruct =>
      s.valExprs.zipWithIndex.foreach { case (e, i) => layout.put(words, i, e.eval(input)) }
      true
    case other =>
      val row = other.eval(input).asInstanceOf[InternalRow]
      if (row != null) fieldTypes.zipWithIndex.foreach { case (t, i) => layout.put(words, i, row.get(i, t)) }
      row != null
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val shape = ctx.addReferenceObj("shape", layout.shape, classOf[KeyShape].getName)
    val leftScratch = layout.scratchCode(ctx, "leftWords")
    val rightScratch = layout.scratchCode(ctx, "rightWords")
    val compare = s"${ev.value} = sparkzorder.curve.MsdOrder.compare($shape, $leftScratch, $rightScratch);"
    val both =
      side(ctx, left, leftScratch, side(ctx, right, rightScratch, s"${ev.isNull} = false;\n$compare"))
    ev.copy(code = code"""
      boolean ${ev.isNull} = true;
      int ${ev.value} = 0;
      $both""")
  }

  /** Code that fills the words of one side and continues with `next` unless the struct is NULL. */
  private def side(ctx: CodegenContext, e: Expression, words: String, next: String): String = e match {
    case s: CreateNamedStruct =>
      val puts = s.valExprs.zipWithIndex.map { case (field, i) =>
        val value = field.genCode(ctx)
        s"${value.code}\n${layout.putCode(words, i, value.isNull.toString, value.value.toString)}"
      }
      s"${split(ctx, puts)}\n$next"
    case other =>
      val row = other.genCode(ctx)
      val puts = fieldTypes.zipWithIndex.map { case (t, i) =>
        layout.putCode(
          words,
          i,
          s"${row.value}.isNullAt($i)",
          CodeGenerator.getValue(row.value.toString, t, i.toString))
      }
      s"${row.code}\nif (!${row.isNull}) {\n${puts.mkString("\n")}\n$next\n}"
  }

  private def split(ctx: CodegenContext, puts: Seq[String]): String =
    ctx.splitExpressionsWithCurrentInputs(
      expressions = puts,
      funcName = "zorder_compare",
      extraArguments = Nil,
      returnType = "void",
      makeSplitFunction = identity,
      foldFunctions = _.mkString("", ";\n", ";"))

  override protected def withNewChildrenInternal(newLeft: Expression, newRight: Expression): CompareByMsd =
    copy(left = newLeft, right = newRight)
}

package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode, FalseLiteral}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.types.{BinaryType, DataType}
import sparkzorder.curve.KeyShape

/**
 * A key over raw values (docs/spec.md, section 1): BINARY, never NULL. Its length depends on the argument types only.
 * Types, words and code generation of both curves.
 */
abstract class RawKey extends Expression {

  /** The key of the row whose words were written; generated code calls `curveClass.key` for it. */
  protected def key(shape: KeyShape, words: Array[Long]): Array[Byte]

  /** Class with the static method `byte[] key(KeyShape, long[])`. */
  protected def curveClass: String

  override def dataType: DataType = BinaryType

  override def nullable: Boolean = false

  override def foldable: Boolean = children.nonEmpty && children.forall(_.foldable)

  // eval writes into one scratch array
  override def stateful: Boolean = true

  override def checkInputDataTypes(): TypeCheckResult = ArgumentCheck.all(prettyName, children)

  @transient private lazy val layout: RowWords = RowWords(children.map(_.dataType))
  @transient private lazy val words: Array[Long] = layout.scratch()

  override def eval(input: InternalRow): Any = {
    var i = 0
    while (i < layout.columns) {
      layout.put(words, i, children(i).eval(input))
      i += 1
    }
    key(layout.shape, words)
  }

  override protected def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode = {
    val shape = ctx.addReferenceObj("shape", layout.shape, classOf[KeyShape].getName)
    val scratch = layout.scratchCode(ctx, "words")
    val puts = children.indices.map { i =>
      val child = children(i).genCode(ctx)
      s"${child.code}\n${layout.putCode(scratch, i, child.isNull.toString, child.value.toString)}"
    }
    val fill = ctx.splitExpressionsWithCurrentInputs(
      expressions = puts,
      funcName = prettyName,
      extraArguments = Nil,
      returnType = "void",
      makeSplitFunction = identity,
      foldFunctions = _.mkString("", ";\n", ";"))
    ev.copy(
      code = code"""
        $fill
        final byte[] ${ev.value} = $curveClass.key($shape, $scratch);""",
      isNull = FalseLiteral)
  }
}

package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.{AnsiTypeCoercion, TypeCheckResult, TypeCoercion}
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.{
  BinaryExpression,
  Cast,
  CreateNamedStruct,
  Expression,
  RuntimeReplaceable
}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodeGenerator, CodegenContext, ExprCode}
import org.apache.spark.sql.catalyst.expressions.codegen.Block._
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{DataType, IntegerType, StructField, StructType}
import sparkzorder.curve.{KeyShape, MsdOrder}

/**
 * `zorder_compare(left, right)`: -1, 0 or 1, as the `zorder` keys of the fields of the two structs compare.
 * Field names are ignored; the two fields at each position are cast to their common type.
 * NULL if a struct is NULL; a NULL field is a value. Becomes [[CompareByMsd]].
 *
 * @param ansi
 *   whether the types are brought together by ANSI's rules; as in the session that made the expression, since
 *   a view has settings of its own, and is copied into queries of sessions with others
 * @param timeZone
 *   of casts between dates and timestamps, likewise
 */
case class ZOrderCompare(
    left: Expression,
    right: Expression,
    ansi: Boolean = SQLConf.get.ansiEnabled,
    timeZone: String = SQLConf.get.sessionLocalTimeZone)
    extends RuntimeReplaceable {
  override def prettyName: String = "zorder_compare"

  override def children: Seq[Expression] = Seq(left, right)

  /** Plans show the structs alone. */
  override protected def stringArgs: Iterator[Any] = Iterator(left, right)

  override def checkInputDataTypes(): TypeCheckResult = (left.dataType, right.dataType) match {
    case (l: StructType, r: StructType) => checkFields(l, r)
    case (_: StructType, other) => notAStruct(right, other)
    case (other, _) => notAStruct(left, other)
  }

  override lazy val replacement: Expression = common match {
    case Some(types) => CompareByMsd(brought(left, types), brought(right, types))
    case None => CompareByMsd(left, right) // not to be run: checkInputDataTypes refuses it
  }

  private def common: Option[Seq[DataType]] = (left.dataType, right.dataType) match {
    case (l: StructType, r: StructType) if l.length == r.length =>
      val types =
        l.fields.toSeq.zip(r.fields.toSeq).flatMap(p => widest(p._1.dataType, p._2.dataType))
      if (types.length == l.length) Some(types) else None
    case _ => None
  }

  private def checkFields(l: StructType, r: StructType): TypeCheckResult =
    if (l.length != r.length)
      TypeCheckFailure(
        s"$prettyName needs structs with the same number of fields: ${left.sql} has ${l.length}, " +
          s"${right.sql} has ${r.length}.")
    else if (l.isEmpty) TypeCheckFailure(s"$prettyName needs structs with at least one field.")
    else {
      val failures = l.fields.toSeq.zip(r.fields.toSeq).flatMap { case (a, b) =>
        widest(a.dataType, b.dataType) match {
          case None =>
            Some(s"$prettyName finds no common type for field ${a.name} of type ${a.dataType.sql} and " +
              s"field ${b.name} of type ${b.dataType.sql}: cast one of them.")
          case Some(t) => ArgumentCheck.refusal(prettyName, s"field ${a.name}", t)
        }
      }
      failures.headOption.map(TypeCheckFailure(_)).getOrElse(TypeCheckSuccess)
    }

  private def notAStruct(e: Expression, dataType: DataType): TypeCheckResult =
    TypeCheckFailure(
      s"$prettyName compares two structs, and ${e.sql} is of type ${dataType.sql}: write struct(...).")

  /** Casts the fields inside a `struct(...)`, so that it need not be built; any other struct as a whole. */
  private def brought(side: Expression, types: Seq[DataType]): Expression = side match {
    case s: CreateNamedStruct =>
      CreateNamedStruct(s.nameExprs.zip(s.valExprs.zip(types)).flatMap { case (n, (v, t)) =>
        Seq(n, cast(v, t))
      })
    case other =>
      val fields = other.dataType.asInstanceOf[StructType].fields.toSeq.zip(types)
      // nullable, since without ANSI a cast may give NULL of a field that has none: Spark asks for it
      cast(other, StructType(fields.map { case (f, t) => StructField(f.name, t) }))
  }

  private def cast(e: Expression, to: DataType): Expression =
    if (DataType.equalsStructurally(e.dataType, to, ignoreNullability = true)) e
    else Cast(e, to, Some(timeZone), ansi)

  /** The common type of two types. */
  private def widest(a: DataType, b: DataType): Option[DataType] =
    if (ansi) AnsiTypeCoercion.findWiderTypeForTwo(a, b)
    else TypeCoercion.findWiderTypeForTwo(a, b)

  override protected def withNewChildrenInternal(newChildren: IndexedSeq[Expression]): ZOrderCompare =
    copy(left = newChildren(0), right = newChildren(1))
}

/**
 * Compares the `zorder` keys of two structs of the same field types without building them: the most
 * significant bit in which two words differ (MSD) decides. The fields of a `struct(...)` are taken as they
 * are: the struct itself is not built.
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

package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType, NormalizedType}
import sparkzorder.curve.layout.CompiledLayout

/**
 * The common part of `zorder_file` and `zorder_key`: the ranks of the columns in a layout. NULL has rank 0,
 * so the result is never NULL. Layouts are an argument of the constructor and not children, so that no
 * optimizer rule copies a megabyte of JSON.
 */
abstract class LayoutExpression extends Expression {

  def layouts: PartitionLayouts

  /** The number of the layout of a row (INT, not NULL); None if there is only one layout. */
  def route: Option[Expression]

  /** The clustering columns, in the layout's order. */
  def columns: Seq[Expression]

  override def nullable: Boolean = false

  /** Holds the scratch arrays of one task. */
  override def stateful: Boolean = true

  @transient protected lazy val ranks: Array[Int] = new Array[Int](columns.length)
  @transient protected lazy val scratch: Array[Int] = new Array[Int](columns.length)
  @transient private lazy val normalizedTypes: Array[NormalizedType] =
    columns.map(c => Normalization.of(c.dataType).get).toArray

  override def checkInputDataTypes(): TypeCheckResult = {
    val ref = layouts.refs.head
    val wanted = ref.layout.columns
    if (columns.length != wanted.length)
      TypeCheckFailure(
        s"$prettyName: layout ${ref.id} has ${wanted.length} columns " +
          s"(${wanted.map(_.sql).mkString(", ")}), and ${columns.length} were given.")
    else
      columns
        .zip(wanted)
        .collectFirst {
          case (c, w) if !LayoutRef.isOf(w.dataType, c.dataType) =>
            TypeCheckFailure(
              s"$prettyName: ${c.sql} is ${c.dataType.sql}, and column ${w.sql} of layout ${ref.id} " +
                s"is ${w.dataType}: cast it.")
        }
        .getOrElse(TypeCheckSuccess)
  }

  protected def routeOf(input: InternalRow): Int = route match {
    case None => 0
    case Some(r) => r.eval(input).asInstanceOf[Int]
  }

  protected def fillRanks(layout: CompiledLayout, input: InternalRow): Unit = {
    var i = 0
    while (i < ranks.length) {
      ranks(i) = Ranks.of(layout, i, normalizedTypes(i), columns(i).eval(input))
      i += 1
    }
  }

  protected def ranksCode(ctx: CodegenContext): RanksCode = {
    val layoutClass = "sparkzorder.curve.layout.CompiledLayout"
    val ranks =
      ctx.addMutableState("int[]", "ranks", v => s"$v = new int[${columns.length}];", forceInline = true)
    val all = ctx.addReferenceObj("routes", layouts, classOf[PartitionLayouts].getName)
    val (choose, layout, firstFile) = route match {
      case None =>
        (
          "",
          ctx.addMutableState(layoutClass, "layout", v => s"$v = $all.compiled(0);", forceInline = true),
          "0")
      case Some(expression) =>
        // a field, not a local variable: the code of the columns may be split into methods
        val chosen = ctx.addMutableState(layoutClass, "layout", _ => "", forceInline = true)
        val firsts = ctx.addReferenceObj("firstFiles", layouts.firstFile, "int[]")
        val value = expression.genCode(ctx)
        (s"${value.code}\n$chosen = $all.compiled(${value.value});\n", chosen, s"$firsts[${value.value}]")
    }
    val parts = columns.zipWithIndex.map { case (column, i) =>
      val value = column.genCode(ctx)
      val rank = Ranks.code(layout, i, Normalization.of(column.dataType).get, value)
      s"${value.code}\n$ranks[$i] = $rank;\n"
    }
    RanksCode(
      choose + ctx.splitExpressionsWithCurrentInputs(parts, "ranksOfLayout"),
      layout,
      ranks,
      firstFile)
  }

  private def arguments: String =
    if (layouts.firstFile.length == 1) layouts.toString.stripPrefix("[").stripSuffix("]")
    else layouts.toString

  override def toString: String = (arguments +: children.map(_.toString)).mkString(s"$prettyName(", ", ", ")")

  override def sql: String = (s"'$arguments'" +: children.map(_.sql)).mkString(s"$prettyName(", ", ", ")")
}

/** The rank of a value of a column in a layout: 0 for NULL. Once interpreted and once as Java code. */
private[layout] object Ranks {

  /** @param column its place in the layout */
  def of(layout: CompiledLayout, column: Int, dataType: NormalizedType, value: Any): Int =
    if (value == null) 0
    else
      dataType match {
        case t: NormalizedLongType => layout.rank(column, t.toLong(value))
        case t: NormalizedBytesType => layout.rank(column, t.toBytes(value))
      }

  /**
   * A Java expression.
   *
   * @param layout
   *   the Java name of the compiled layout
   * @param value
   *   whose own code comes before
   */
  def code(layout: String, column: Int, dataType: NormalizedType, value: ExprCode): String = {
    val normalized = dataType match {
      case t: NormalizedLongType => t.code(value.value.toString)
      case t: NormalizedBytesType => t.code(value.value.toString)
    }
    s"${value.isNull} ? 0 : $layout.rank($column, $normalized)"
  }
}

/** Java names and code of one evaluation: `layout` and `ranks` are set after `code` has run. */
final private[expr] case class RanksCode(code: String, layout: String, ranks: String, firstFile: String)

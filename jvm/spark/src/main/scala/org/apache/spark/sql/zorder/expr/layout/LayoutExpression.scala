package org.apache.spark.sql.zorder.expr.layout

import java.lang.ref.SoftReference
import java.util.{LinkedHashMap, Map => JMap}

import scala.reflect.ClassTag

import org.apache.spark.SparkContext
import org.apache.spark.broadcast.Broadcast
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.{TypeCheckFailure, TypeCheckSuccess}
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType, NormalizedType}
import sparkzorder.curve.layout.{CompiledLayout, Layout}

/**
 * The common part of `zorder_file` and `zorder_key`: the ranks of the columns in a layout. NULL has rank 0, so the
 * result is never NULL. Layouts are an argument of the constructor and not children, so that no optimizer
 * rule copies a megabyte of JSON.
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
          case (c, w) if c.dataType.sql != w.dataType =>
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
      val value = columns(i).eval(input)
      ranks(i) =
        if (value == null) 0
        else
          normalizedTypes(i) match {
            case t: NormalizedLongType => layout.rank(i, t.toLong(value))
            case t: NormalizedBytesType => layout.rank(i, t.toBytes(value))
          }
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
      val normalized = Normalization.of(column.dataType).get match {
        case t: NormalizedLongType => t.code(value.value.toString)
        case t: NormalizedBytesType => t.code(value.value.toString)
      }
      s"${value.code}\n$ranks[$i] = ${value.isNull} ? 0 : $layout.rank($i, $normalized);\n"
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

/** Java names and code of one evaluation: `layout` and `ranks` are set after `code` has run. */
final private[expr] case class RanksCode(code: String, layout: String, ranks: String, firstFile: String)

/**
 * Builds `zorder_file` and `zorder_key`. Their first argument is read when the query is analysed: the layout's
 * JSON, or the name of a table that has one.
 *
 * @param lookUp
 *   finds the layout of a text; passed in, since this package must not depend on tables
 */
final class LayoutArgument(lookUp: String => LayoutRef) {

  def file(arguments: Seq[Expression]): Expression = {
    val (ref, columns) = split("zorder_file", arguments)
    val own = ref.layout.columns.length
    ZOrderFile(ref, columns.take(own), columns.drop(own))
  }

  def key(arguments: Seq[Expression]): Expression = {
    val (ref, columns) = split("zorder_key", arguments)
    ZOrderKey(ref, columns)
  }

  private def split(function: String, arguments: Seq[Expression]): (LayoutRef, Seq[Expression]) = {
    if (arguments.length < 2)
      refuse("ZORDER_INVALID_ARGUMENT.LAYOUT_AND_COLUMNS", "function" -> function)
    val first = arguments.head
    if (!first.resolved || !first.foldable)
      refuse("ZORDER_INVALID_ARGUMENT.LAYOUT_NOT_LITERAL", "function" -> function, "value" -> first.sql)
    val text = Option(first.eval()).map(_.toString)
      .getOrElse(refuse("ZORDER_INVALID_ARGUMENT.LAYOUT_NULL", "function" -> function))
    (lookUp(text), arguments.tail)
  }
}

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
  def fits(types: Seq[DataType]): Boolean = layout.columns.map(_.dataType) == types.map(_.sql)

  override def toString: String = id

  override def equals(other: Any): Boolean = other match {
    case that: LayoutRef => that.id == id
    case _ => false
  }

  override def hashCode(): Int = id.hashCode
}

/**
 * Compiled large layouts, shared by the tasks of one JVM: a layout of ten thousand files has ten thousand tasks, and
 * each would compile it for the rows of one file. Compiled layouts have no state, so tasks can share them.
 */
private[expr] object CompiledLayoutCache {
  private val Kept = 64

  private val known =
    new LinkedHashMap[String, SoftReference[CompiledLayout]](Kept, 0.75f, true) {
      override def removeEldestEntry(eldest: JMap.Entry[String, SoftReference[CompiledLayout]]): Boolean =
        size > Kept
    }

  /** The layout of this key, compiled by the first caller. */
  def apply(key: String, make: => CompiledLayout): CompiledLayout = synchronized {
    Option(known.get(key)).flatMap(found => Option(found.get)).getOrElse {
      val made = make
      known.put(key, new SoftReference(made))
      made
    }
  }
}

/**
 * A value that an expression needs in every task. A small one is sent within the task; a large one, of a table with
 * thousands of partitions, is broadcast, so that an executor unpacks it once and not once for each task. Its class
 * must be one of the JDK: executors may load our classes with another class loader.
 */
sealed private[expr] trait MaybeBroadcast[A] extends Serializable {
  def value: A
}

private[expr] object MaybeBroadcast {
  def apply[A: ClassTag](value: A, large: Boolean): MaybeBroadcast[A] =
    if (large) new Broadcasted(SparkContext.getOrCreate().broadcast(value)) else new Inlined(value)

  final private class Inlined[A](override val value: A) extends MaybeBroadcast[A]

  final private class Broadcasted[A](sent: Broadcast[A]) extends MaybeBroadcast[A] {
    override def value: A = sent.value
  }
}

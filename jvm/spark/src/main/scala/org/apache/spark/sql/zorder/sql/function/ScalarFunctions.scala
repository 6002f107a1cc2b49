package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo, LeafExpression, Literal}
import org.apache.spark.sql.catalyst.expressions.codegen.{CodegenContext, ExprCode}
import org.apache.spark.sql.types.{DataType, StringType}
import org.apache.spark.sql.zorder.build.BuildInfo
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.{HilbertOrder, ZOrder, ZOrderCompare}
import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, ZOrderFile, ZOrderKey}
import org.apache.spark.sql.zorder.clustering.fit.LayoutLookUp
import org.apache.spark.sql.zorder.clustering.StoredLayout
import org.apache.spark.unsafe.types.UTF8String

/** One SQL function, as the session extension injects it. */
final case class FunctionEntry(name: String, info: ExpressionInfo, builder: Seq[Expression] => Expression)

object FunctionEntry {

  /** Version of this project in which the functions came. */
  private val Since = "0.1.0"

  /** What `DESCRIBE FUNCTION EXTENDED` shows. Spark accepts only groups and sources of its own lists. */
  private[function] def describe(
      function: Class[_],
      name: String,
      usage: String,
      arguments: String,
      examples: String,
      group: String,
      source: String): ExpressionInfo =
    new ExpressionInfo(
      function.getName.stripSuffix("$"),
      /* db = */ null,
      name,
      usage,
      arguments,
      examples,
      /* note = */ "",
      group,
      Since,
      /* deprecated = */ "",
      source)
}

/** The SQL functions, in the order in which the guide lists them. */
object ScalarFunctions {

  private val zorder = entry(
    classOf[ZOrder],
    "zorder",
    "_FUNC_(expr, ...) - Returns the key of a row on the Z-order curve of its arguments: BINARY, never NULL.",
    """
    Arguments:
      * expr - any number of expressions of atomic types, NULLs allowed; a struct is named field by field.
    """,
    """
    Examples:
      > SELECT hex(_FUNC_(1, 2));
       F00000000000000180
      > SELECT * FROM t ORDER BY _FUNC_(a, s.b);
    """
  )(ZOrder(_))

  private val hilbert = entry(
    classOf[HilbertOrder],
    "hilbert",
    "_FUNC_(expr, ...) - Returns the key of a row on the Hilbert curve of its arguments: BINARY, never NULL.",
    """
    Arguments:
      * expr - any number of expressions of atomic types, NULLs allowed; a struct is named field by field.
    """,
    """
    Examples:
      > SELECT hex(_FUNC_(1, 2));
       A00000000000000340
    """
  )(HilbertOrder(_))

  private val compare = entry(
    classOf[ZOrderCompare],
    "zorder_compare",
    "_FUNC_(left, right) - Returns -1, 0 or 1, as the zorder keys of two structs compare; NULL if one is NULL.",
    """
    Arguments:
      * left, right - structs with the same number of fields; names are ignored, a NULL field is a value.
    """,
    """
    Examples:
      > SELECT _FUNC_(struct(2, 4), struct(1, 7));
       1
    """
  ) {
    case Seq(left, right) => ZOrderCompare(left, right)
    case other =>
      refuse("ZORDER_INVALID_ARGUMENT.TWO_STRUCTS", "count" -> other.length)
  }

  private val file = entry(
    classOf[ZOrderFile],
    "zorder_file",
    "_FUNC_(layout, expr, ...) - Returns the number of the file that a layout gives the row: INT from 0, never NULL.",
    """
    Arguments:
      * layout - a literal: the JSON that fit() returned, or 'table:db.t' or 'path:/data/t' of a clustered table, with
        '#day=2026-01-01' behind for that of a partition, or '#id' for one by its id.
      * expr - the layout's columns in its order; further ones spread rows whose keys are all equal over files.
    """,
    """
    Examples:
      > SELECT _FUNC_('path:/data/t', a, b), count(*) FROM t GROUP BY 1;
    """)(LayoutArgument.file)

  private val key = entry(
    classOf[ZOrderKey],
    "zorder_key",
    "_FUNC_(layout, expr, ...) - Returns the place of the row in a layout: BIGINT from 0, never NULL.",
    """
    Arguments:
      * layout - a literal: the JSON that fit() returned, or 'table:db.t' or 'path:/data/t' of a clustered table, with
        '#day=2026-01-01' behind for that of a partition, or '#id' for one by its id.
      * expr - the layout's columns in its order.
    """,
    """
    Examples:
      > SELECT * FROM t ORDER BY _FUNC_('path:/data/t', a, b);
    """)(LayoutArgument.key)

  private val version = entry(
    classOf[ZOrderVersion],
    "zorder_version",
    "_FUNC_() - The version of spark-zorder.",
    "",
    "\n    Examples:\n      > SELECT _FUNC_();\n") {
    case Seq() => ZOrderVersion()
    case _ => refuse("ZORDER_INVALID_ARGUMENT.NO_ARGUMENT", "function" -> "zorder_version")
  }

  /** Every function that a session gets. */
  val all: Seq[FunctionEntry] = Seq(zorder, hilbert, compare, file, key, version)

  private def entry(function: Class[_], name: String, usage: String, arguments: String, examples: String)(
      builder: Seq[Expression] => Expression): FunctionEntry = {
    val info =
      FunctionEntry.describe(function, name, usage, arguments, examples, "misc_funcs", "built-in")
    FunctionEntry(name, info, builder)
  }
}

/**
 * Builds `zorder_file` and `zorder_key`. Their first argument is read when the query is analysed: the layout's
 * JSON, or the name of a table that has one.
 */
private object LayoutArgument {

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
    (LayoutLookUp.of(text, StoredLayout.json), arguments.tail)
  }
}

/** `zorder_version()`: the version of this package, e.g. `0.1.0`. STRING, never NULL. */
final case class ZOrderVersion() extends LeafExpression {
  override def nullable: Boolean = false
  override def foldable: Boolean = true
  override def dataType: DataType = StringType
  override def prettyName: String = "zorder_version"
  override def eval(input: InternalRow): Any = UTF8String.fromString(BuildInfo.version)
  override def doGenCode(ctx: CodegenContext, ev: ExprCode): ExprCode =
    Literal(BuildInfo.version).genCode(ctx)
}

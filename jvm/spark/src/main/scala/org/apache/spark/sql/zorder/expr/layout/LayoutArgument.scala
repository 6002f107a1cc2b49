package org.apache.spark.sql.zorder.expr.layout

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

/**
 * Builds `zorder_file` and `zorder_key`. Their first argument is read when the query is analysed: the
 * layout's JSON, or the name of a table that has one.
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

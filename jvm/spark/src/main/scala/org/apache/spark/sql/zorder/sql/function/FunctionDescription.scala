package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.catalyst.expressions.ExpressionInfo

/** Makes the `ExpressionInfo` of our functions, which `DESCRIBE FUNCTION EXTENDED` shows. */
private[function] object FunctionDescription {

  /** Version of this project in which the functions came. */
  private val Since = "0.1.0"

  /** An SQL function that is an expression. */
  def scalar(
      function: Class[_],
      name: String,
      usage: String,
      arguments: String,
      examples: String): ExpressionInfo =
    info(function, name, usage, arguments, examples, "misc_funcs", "built-in")

  /** A table function, used in FROM. */
  def table(
      function: Class[_],
      name: String,
      usage: String,
      arguments: String,
      examples: String): ExpressionInfo =
    info(function, name, usage, arguments, examples, "generator_funcs", "scala_udf")

  // Spark accepts only groups and sources of its own lists
  private def info(
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

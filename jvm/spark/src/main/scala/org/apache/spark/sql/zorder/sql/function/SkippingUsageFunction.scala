package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.skip.scan.SkippingUsage

/** `SELECT * FROM zorder_skipping_usage()`: a row for each table that was scanned, and for each of its columns. */
object SkippingUsageFunction {
  val name = "zorder_skipping_usage"

  private val schema = new StructType()
    .add("table", StringType).add("column", StringType).add("scans", LongType)
    .add("considered", LongType).add("pruned", LongType).add("unknown", LongType).add("ms", DoubleType)

  val info: ExpressionInfo = FunctionDescription.table(
    SkippingUsageFunction.getClass,
    name,
    "_FUNC_() - What queries have skipped by statistics indexes since this application began, by table and column.",
    "",
    "\n    Examples:\n      > SELECT * FROM _FUNC_();\n")

  def build(arguments: Seq[Expression]): LogicalPlan =
    if (arguments.nonEmpty) ZOrderException.refuse(s"$name takes no argument, as in SELECT * FROM $name().")
    else {
      val rows = SkippingUsage.all.map(u =>
        Row(u.table, u.column.orNull, u.scans, u.considered, u.pruned, u.unknown, u.ms))
      LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), rows)
    }
}

package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan

/** A table function, used in FROM. */
final case class TableFunctionEntry(
    name: String,
    info: ExpressionInfo,
    builder: Seq[Expression] => LogicalPlan)

/** Every function that the extension or [[org.apache.spark.sql.zorder.sql.PythonBridge]] registers. */
object RegisteredFunctions {
  val functions: Seq[FunctionEntry] =
    ScalarFunctions.all :+ FunctionEntry(ZOrderVersion.name, ZOrderVersion.info, ZOrderVersion.build)

  val tableFunctions: Seq[TableFunctionEntry] =
    Seq(
      TableFunctionEntry(HistoryFunction.name, HistoryFunction.info, HistoryFunction.build),
      TableFunctionEntry(AdviceFunction.name, AdviceFunction.info, AdviceFunction.build),
      TableFunctionEntry(
        SkippingUsageFunction.name,
        SkippingUsageFunction.info,
        SkippingUsageFunction.build)) ++
      AuditFunction.all.map(f => TableFunctionEntry(f.name, f.info, f.build)) ++
      QueryLogFunction.all.map(f => TableFunctionEntry(f.name, f.info, f.build))
}

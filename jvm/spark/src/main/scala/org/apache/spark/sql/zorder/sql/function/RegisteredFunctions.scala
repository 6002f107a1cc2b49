package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.fit.LayoutLookUp
import org.apache.spark.sql.zorder.run.StoredLayout

/** A function that stands in FROM. */
final case class TableFunctionEntry(
    name: String,
    info: ExpressionInfo,
    builder: Seq[Expression] => LogicalPlan)

/** Every function that a session gets, by the extension or by the bridge. */
object RegisteredFunctions {
  LayoutLookUp.register(StoredLayout.json)

  val functions: Seq[FunctionEntry] =
    ScalarFunctions.all :+ FunctionEntry(ZOrderVersion.name, ZOrderVersion.info, ZOrderVersion.build)

  val tableFunctions: Seq[TableFunctionEntry] =
    Seq(
      TableFunctionEntry(HistoryFunction.name, HistoryFunction.info, HistoryFunction.build),
      TableFunctionEntry(AdviceFunction.name, AdviceFunction.info, AdviceFunction.build)) ++
      QueryLogFunction.all.map(f => TableFunctionEntry(f.name, f.info, f.build))
}

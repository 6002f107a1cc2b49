package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.sql.statement.TableRefParser
import org.apache.spark.sql.zorder.table.resolve.Maintenance

/** `SELECT * FROM zorder_history('t')`: one row for each run. The argument is a name or a path, as a string. */
object HistoryFunction {
  val name = "zorder_history"

  val info: ExpressionInfo = FunctionDescription.table(
    HistoryFunction.getClass,
    name,
    "_FUNC_(table) - The clustering runs of a table, oldest first.",
    "\n    Arguments:\n      * table - a table name or a path, as a string\n",
    "\n    Examples:\n      > SELECT * FROM _FUNC_('db.t');\n")

  /** Reads the history while the query is analysed: it is small, and the query sees one state of it. */
  def build(arguments: Seq[Expression]): LogicalPlan = {
    val session = SparkSession.active
    val rows =
      Maintenance.history(Shims.classic(session), TableRefParser.ofText(session, argument(arguments)))
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(Maintenance.historySchema), rows)
  }

  private def argument(arguments: Seq[Expression]): String = arguments match {
    case Seq(one)
        if one.resolved && one.foldable && one.dataType.isInstanceOf[StringType] && one.eval() != null =>
      one.eval().toString
    case _ =>
      ZOrderException.refuse(s"$name takes one string, a table or a path, as in SELECT * FROM $name('db.t').")
  }
}

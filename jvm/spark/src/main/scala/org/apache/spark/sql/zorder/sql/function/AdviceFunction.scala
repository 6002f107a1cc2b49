package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types.StringType
import org.apache.spark.sql.zorder.advise.{AdviceRelation, Advisor}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.sql.statement.TableRefParser

/** `SELECT * FROM clustering_advice('t', 'log')`: one row for each proposal, the best first. */
object AdviceFunction {
  val name = "clustering_advice"

  val info: ExpressionInfo = FunctionDescription.table(
    AdviceFunction.getClass,
    name,
    "_FUNC_(table[, log]) - By which columns to cluster a table, and whether to; the best proposal first.",
    "\n    Arguments:\n      * table - a table name or a path, as a string\n      * log - a query log: the name of a " +
      "table or view, or a path\n",
    "\n    Examples:\n      > SELECT * FROM _FUNC_('db.t', 'db.queries');\n")

  /** Looks up the table and reads the log while the query is analysed; samples rows when it runs. */
  def build(arguments: Seq[Expression]): LogicalPlan = {
    val texts = arguments.map(text)
    if (texts.isEmpty || texts.size > 2 || texts.contains(None))
      ZOrderException.refuse(
        s"$name takes a table or a path and perhaps a query log, as in SELECT * FROM $name('db.t', 'db.queries').")
    val session = Shims.classic(SparkSession.active)
    val target = TableRefParser.ofText(session, texts.head.get)
    LogicalRelation(new AdviceRelation(
      session.sqlContext,
      Advisor.of(session, target, texts.lift(1).flatten)))
  }

  private def text(argument: Expression): Option[String] =
    if (argument.resolved && argument.foldable && argument.dataType.isInstanceOf[StringType])
      Option(argument.eval()).map(_.toString)
    else None
}

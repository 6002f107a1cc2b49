package org.apache.spark.sql.zorder.sql.function

import scala.util.control.NonFatal

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.types.{ArrayType, StringType}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.workload.log.{EventLogImport, LoggedQuery, SqlImport}

/**
 * A table function that makes rows of a query log from strings, while the query is analysed.
 *
 * @param most
 *   number of strings that it takes
 */
sealed abstract class QueryLogFunction(
    val name: String,
    parameters: String,
    what: String,
    example: String,
    most: Int,
    rows: (ClassicSession, Seq[String]) => Seq[LoggedQuery]) {

  val info: ExpressionInfo = FunctionDescription.table(
    classOf[QueryLogFunction],
    name,
    s"_FUNC_($parameters) - $what",
    s"\n    Arguments:\n      * $parameters - strings, or an array of strings\n",
    s"\n    Examples:\n      > SELECT * FROM _FUNC_($example);\n")

  def build(arguments: Seq[Expression]): LogicalPlan = {
    val texts = arguments.map(strings)
    if (arguments.isEmpty || texts.exists(_.isEmpty) || texts.flatten.flatten.size > most)
      refuse(s"$name takes constant strings, as in SELECT * FROM $name($example).")
    val found = rows(Shims.classic(SparkSession.active), texts.flatten.flatten)
    LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(LoggedQuery.schema), found.map(LoggedQuery.row))
  }

  /** None where the argument is anything but constant strings. */
  private def strings(argument: Expression): Option[Seq[String]] =
    try if (!argument.resolved || !argument.foldable) None
      else (argument.dataType, argument.eval()) match {
        case (_, null) => None
        case (_: StringType, text) => Some(Seq(text.toString))
        case (ArrayType(_: StringType, _), list: ArrayData) =>
          val all = (0 until list.numElements()).map(i => Option(list.getUTF8String(i)).map(_.toString))
          if (all.forall(_.isDefined)) Some(all.flatten) else None
        case _ => None
      }
    catch { case NonFatal(_) => None }
}

object QueryLogFunction {

  /** `SELECT * FROM zorder_query_log('SELECT ...', 'SELECT ...')`: the texts are analysed, never run. */
  object OfSql extends QueryLogFunction(
        "zorder_query_log",
        "query, ...",
        "The filters of queries, as rows of a query log. The queries are not run.",
        "'SELECT * FROM t WHERE a = 1'",
        Int.MaxValue,
        SqlImport.queries)

  /** `SELECT * FROM zorder_event_log('/logs')`: the queries of applications that have run. */
  object OfEvents extends QueryLogFunction(
        "zorder_event_log",
        "path",
        "The filters of the queries in Spark's event logs, as rows of a query log.",
        "'/spark-events'",
        1,
        (session, paths) => EventLogImport.queries(session, paths.head))

  val all: Seq[QueryLogFunction] = Seq(OfSql, OfEvents)
}

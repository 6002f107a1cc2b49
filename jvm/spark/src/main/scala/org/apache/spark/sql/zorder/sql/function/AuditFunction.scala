package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types.{NullType, StringType, StructType}
import org.apache.spark.sql.zorder.audit
import org.apache.spark.sql.zorder.audit.{Auditor, AuditRelation, AuditRow, BoxRow, FilterAudit, QueryRow}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.sql.statement.TableRefParser
import org.apache.spark.sql.zorder.table.TableRef

/**
 * A table function about the clustering of a table, from metadata alone. Its arguments are constant strings, the table
 * first; NULL stands for one that is left out.
 *
 * @param parameters
 *   what they are called
 * @param least
 *   number of those that must be there
 * @param rows
 *   looks up the table while the query is analysed, and reads its files when that asks for its rows
 */
sealed abstract class AuditFunction(
    val name: String,
    what: String,
    parameters: Seq[String],
    least: Int,
    example: String,
    schema: StructType,
    rows: (ClassicSession, TableRef, Seq[Option[String]]) => () => Seq[Row]) {

  private def signature: String = {
    val more = parameters.drop(least)
    parameters.take(least).mkString(", ") + more.map(p => s"[, $p").mkString + "]" * more.length
  }

  val info: ExpressionInfo = FunctionDescription.table(
    classOf[AuditFunction],
    name,
    s"_FUNC_($signature) - $what",
    "\n    Arguments:\n" + parameters.map(p => s"      * $p - ${AuditFunction.meaning(p)}\n").mkString,
    s"\n    Examples:\n      > SELECT * FROM _FUNC_($example);\n")

  def build(arguments: Seq[Expression]): LogicalPlan = {
    val texts = arguments.map(text)
    val constants = texts.flatten
    if (constants.length < texts.length || texts.length > parameters.length || constants.take(
        least).flatten.length < least)
      ZOrderException.refuse(
        s"$name takes ${parameters.mkString(", ")} as strings, as in SELECT * FROM $name($example).")
    val session = Shims.classic(SparkSession.active)
    val found = rows(session, TableRefParser.ofText(session, constants.head.get), constants.tail)
    LogicalRelation(new AuditRelation(session.sqlContext, name, schema, found))
  }

  /** None for what is no constant string; Some(None) for NULL. */
  private def text(argument: Expression): Option[Option[String]] =
    if (!argument.resolved || !argument.foldable) None
    else argument.dataType match {
      case _: StringType => Some(Option(argument.eval()).map(_.toString))
      case NullType => Some(None)
      case _ => None
    }
}

object AuditFunction {
  private val meaning = Map(
    "table" -> "a table name or a path",
    "columns" -> "as in BY (...); by default those of the table or of its last run",
    "filter" -> "as behind WHERE",
    "log" -> "a query log: the name of a table or view, or a path")

  /** `SELECT * FROM clustering_information('t', 'a, b')`: the table, then its partitions, the worst first. */
  object Information extends AuditFunction(
        "clustering_information",
        "How well a table is clustered, and what to do.",
        Seq("table", "columns", "log"),
        1,
        "'db.t', 'a, b', 'db.queries'",
        AuditRow.schema,
        (session, target, more) => {
          val auditor = Auditor.of(session, target, more.headOption.flatten, more.lift(1).flatten)
          () => auditor.rows()
        })

  /** `SELECT * FROM clustering_boxes('t', 'a, b')`: the ranges of its files and row groups. */
  object Boxes extends AuditFunction(
        "clustering_boxes",
        "The ranges of the files and row groups of a table.",
        Seq("table", "columns"),
        1,
        "'db.t', 'a, b'",
        BoxRow.schema,
        (session, target, more) => {
          val auditor = Auditor.of(session, target, more.headOption.flatten, None)
          () => auditor.boxes()
        })

  /** `SELECT * FROM clustering_queries('t', 'log')`: what logged queries read, the worst first. */
  object Queries extends AuditFunction(
        "clustering_queries",
        "What the queries of a log read of a table, beside the least that they could.",
        Seq("table", "log"),
        2,
        "'db.t', 'db.queries'",
        QueryRow.schema,
        (session, target, more) => Auditor.queries(session, target, more.head.get))

  /** `SELECT * FROM clustering_where('t', 'a = 17')`: files, row groups and pages that a filter reads. */
  object Where extends AuditFunction(
        "clustering_where",
        "What a query with a filter reads of a table.",
        Seq("table", "filter"),
        2,
        "'db.t', 'device = 17'",
        FilterAudit.schema,
        (session, target, more) => Auditor.where(session, target, more.head.get))

  /** `SELECT * FROM clustering_payback('t')`: the time before the first run, then each run with the time after it. */
  object Payback extends AuditFunction(
        "clustering_payback",
        "What scans of this application skipped after each run of a table, beside what the run wrote.",
        Seq("table"),
        1,
        "'db.t'",
        audit.Payback.schema,
        (session, target, _) => Auditor.payback(session, target))

  val all: Seq[AuditFunction] = Seq(Information, Boxes, Queries, Where, Payback)
}

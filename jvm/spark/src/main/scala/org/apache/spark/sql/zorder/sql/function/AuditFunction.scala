package org.apache.spark.sql.zorder.sql.function

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.types.{NullType, StringType, StructType}
import org.apache.spark.sql.zorder.audit.{Auditor, AuditRelation, AuditRow, BoxRow}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.sql.statement.TableRefParser

/**
 * A table function about the clustering of a table, from metadata alone. Its arguments are the table, the columns and, if
 * it takes one, a query log; NULL stands for one that is left out.
 */
sealed abstract class AuditFunction(
    val name: String,
    what: String,
    takesLog: Boolean,
    schema: StructType,
    rows: Auditor => Seq[Row]) {
  private val parameters = if (takesLog) "table[, columns[, log]]" else "table[, columns]"
  private val example = if (takesLog) "'db.t', 'a, b', 'db.queries'" else "'db.t', 'a, b'"

  val info: ExpressionInfo = FunctionDescription.table(
    classOf[AuditFunction],
    name,
    s"_FUNC_($parameters) - $what",
    "\n    Arguments:\n      * table - a table name or a path, as a string\n      * columns - as in BY (...); by " +
      "default those of the table or of its last run\n" +
      (if (takesLog) "      * log - a query log: the name of a table or view, or a path\n" else ""),
    s"\n    Examples:\n      > SELECT * FROM _FUNC_($example);\n")

  /** Looks up the table while the query is analysed; reads its files when it runs. */
  def build(arguments: Seq[Expression]): LogicalPlan = {
    val texts = arguments.map(text)
    if (texts.isEmpty || texts.size > (if (takesLog) 3 else 2) || texts.contains(None) || texts.head.get.isEmpty)
      ZOrderException.refuse(s"$name takes a table or a path, and perhaps columns" +
        (if (takesLog) " and a query log" else "") + s", as in SELECT * FROM $name($example).")
    val session = Shims.classic(SparkSession.active)
    val target = TableRefParser.ofText(session, texts.head.get.get)
    val auditor = Auditor.of(session, target, texts.lift(1).flatten.flatten, texts.lift(2).flatten.flatten)
    LogicalRelation(new AuditRelation(session.sqlContext, name, schema, () => rows(auditor)))
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

  /** `SELECT * FROM clustering_information('t', 'a, b')`: the table, then its partitions, the worst first. */
  object Information extends AuditFunction(
        "clustering_information",
        "How well a table is clustered, what to do, and how much it would help.",
        takesLog = true,
        AuditRow.schema,
        _.rows())

  /** `SELECT * FROM clustering_boxes('t', 'a, b')`: the ranges of its files and row groups. */
  object Boxes extends AuditFunction(
        "clustering_boxes",
        "The ranges of the files and row groups of a table.",
        takesLog = false,
        BoxRow.schema,
        _.boxes())

  val all: Seq[AuditFunction] = Seq(Information, Boxes)
}

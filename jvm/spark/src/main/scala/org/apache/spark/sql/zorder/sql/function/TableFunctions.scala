package org.apache.spark.sql.zorder.sql.function

import scala.util.control.NonFatal

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.{Row, SQLContext, SparkSession}
import org.apache.spark.sql.catalyst.expressions.{Expression, ExpressionInfo}
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, LogicalPlan}
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.catalyst.util.ArrayData
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.sources.{BaseRelation, TableScan}
import org.apache.spark.sql.types.{ArrayType, DoubleType, LongType, NullType, StringType, StructType}
import org.apache.spark.sql.zorder.insight.advise.{Advice, Advisor}
import org.apache.spark.sql.zorder.insight.audit.{AuditRow, Auditor, BlockRangesRow, FilterAudit, QueryRow}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.scan.SkippingUsage
import org.apache.spark.sql.zorder.sql.statement.TableRefParser
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.querylog.{EventLogImport, LoggedQuery, SqlImport}

/** The table functions, in the order in which they are registered. */
object TableFunctions {

  private val oneTable = StringArguments(
    "table",
    Seq("table" -> "a table name or a path, as a string"),
    "one string, a table or a path")(strings => strings.size == 1 && strings.head.isDefined)

  /** `SELECT * FROM zorder_history('t')`: one row for each run. */
  private val history = new TableFunctionOf(
    "zorder_history",
    "The clustering runs of a table, oldest first.",
    oneTable,
    "'db.t'",
    Maintenance.historySchema
  )((session, strings) => RowsNow(Maintenance.history(session, table(session, strings))))

  /** `SELECT * FROM zorder_format('/data/t')`: one row. */
  private val format = new TableFunctionOf(
    "zorder_format",
    "The format of a table (parquet, delta, iceberg or hudi), its location, whether it is partitioned, and by " +
      "which columns it is clustered.",
    oneTable,
    "'/data/t'",
    Maintenance.formatSchema
  )((session, strings) => RowsNow(Seq(Maintenance.format(session, table(session, strings)))))

  /** `SELECT * FROM clustering_advice('t', 'log')`: one row for each proposal, the best first. */
  private val advice = new TableFunctionOf(
    "clustering_advice",
    "By which columns to cluster a table, and whether to; the best proposal first.",
    StringArguments(
      "table[, log]",
      Seq(
        "table" -> "a table name or a path, as a string",
        "log" -> "a query log: the name of a table or view, or a path"),
      "a table or a path and perhaps a query log"
    )(strings => (1 to 2).contains(strings.size) && strings.forall(_.isDefined)),
    "'db.t', 'db.queries'",
    Advice.schema
  )((session, strings) => {
    val advisor = Advisor.of(session, table(session, strings), strings.lift(1).flatten)
    RowsWhenRead(() => advisor.rows())
  })

  /**
   * `SELECT * FROM zorder_skipping_usage()`: a row for each table that was scanned, and for each of its
   * columns.
   */
  private val skippingUsage = new TableFunctionOf(
    "zorder_skipping_usage",
    "What queries have skipped by statistics, ours or those of formats, since this application began, by table " +
      "and column.",
    StringArguments("", Nil, "no argument")(_.isEmpty),
    "",
    new StructType()
      .add("table", StringType).add("column", StringType).add("scans", LongType)
      .add("considered", LongType).add("pruned", LongType).add("unknown", LongType).add("ms", DoubleType)
  )((_, _) =>
    RowsNow(SkippingUsage.all.map(u =>
      Row(u.table, u.column.orNull, u.scans, u.considered, u.pruned, u.unknown, u.ms))))

  /** `SELECT * FROM clustering_information('t', 'a, b')`: the table, then its partitions, the worst first. */
  private val information = audit(
    "clustering_information",
    "How well a table is clustered, and what to do.",
    Seq("table", "columns", "log"),
    1,
    "'db.t', 'a, b', 'db.queries'",
    AuditRow.schema) { (session, target, more) =>
    val auditor = Auditor.of(session, target, more.headOption.flatten, more.lift(1).flatten)
    () => auditor.rows()
  }

  /** `SELECT * FROM clustering_boxes('t', 'a, b')`: the ranges of its files and row groups. */
  private val boxes = audit(
    "clustering_boxes",
    "The ranges of the files and row groups of a table.",
    Seq("table", "columns"),
    1,
    "'db.t', 'a, b'",
    BlockRangesRow.schema) { (session, target, more) =>
    val auditor = Auditor.of(session, target, more.headOption.flatten, None)
    () => auditor.blockRanges()
  }

  /** `SELECT * FROM clustering_queries('t', 'log')`: what logged queries read, the worst first. */
  private val queries = audit(
    "clustering_queries",
    "What the queries of a log read of a table, beside the least that they could.",
    Seq("table", "log"),
    2,
    "'db.t', 'db.queries'",
    QueryRow.schema)((session, target, more) => Auditor.queries(session, target, more.head.get))

  /** `SELECT * FROM clustering_where('t', 'a = 17')`: files, row groups and pages that a filter reads. */
  private val where = audit(
    "clustering_where",
    "What a query with a filter reads of a table.",
    Seq("table", "filter"),
    2,
    "'db.t', 'device = 17'",
    FilterAudit.schema)((session, target, more) => Auditor.where(session, target, more.head.get))

  /** `SELECT * FROM zorder_query_log('SELECT ...', 'SELECT ...')`: the texts are analysed, never run. */
  private val queryLog = logged(
    "zorder_query_log",
    "query, ...",
    "The filters of queries, as rows of a query log. The queries are not run.",
    "'SELECT * FROM t WHERE a = 1'",
    Int.MaxValue)(SqlImport.queries)

  /** `SELECT * FROM zorder_event_log('/logs')`: the queries of applications that have run. */
  private val eventLog = logged(
    "zorder_event_log",
    "path",
    "The filters of the queries in Spark's event logs, as rows of a query log.",
    "'/spark-events'",
    1)((session, paths) => EventLogImport.queries(session, paths.head))

  val all: Seq[TableFunctionOf] = Seq(
    history,
    format,
    advice,
    skippingUsage,
    information,
    boxes,
    queries,
    where,
    queryLog,
    eventLog)

  /**
   * A function about the clustering of a table, from metadata alone. NULL stands for a string that is left
   * out.
   *
   * @param least
   *   number of parameters that must be there
   * @param rows
   *   looks up the table, and reads its files when that asks for its rows
   */
  private def audit(
      name: String,
      what: String,
      parameters: Seq[String],
      least: Int,
      example: String,
      schema: StructType)(
      rows: (ClassicSession, TableRef, Seq[Option[String]]) => () => Seq[Row]): TableFunctionOf = {
    val more = parameters.drop(least)
    val arguments = StringArguments(
      parameters.take(least).mkString(", ") + more.map(p => s"[, $p").mkString + "]" * more.length,
      parameters.map(p => p -> meaning(p)),
      s"${parameters.mkString(", ")} as strings"
    )(strings => strings.length <= parameters.length && strings.take(least).flatten.length == least)
    new TableFunctionOf(name, what, arguments, example, schema)((session, strings) =>
      RowsWhenRead(rows(session, table(session, strings), strings.tail)))
  }

  private def meaning(parameter: String): String = parameter match {
    case "table" => "a table name or a path"
    case "columns" => "as in BY (...); by default those of the table or of its last run"
    case "filter" => "as after WHERE"
    case "log" => "a query log: the name of a table or view, or a path"
  }

  /**
   * A function that makes rows of a query log.
   *
   * @param most
   *   number of strings that it takes
   */
  private def logged(name: String, parameters: String, what: String, example: String, most: Int)(
      rows: (ClassicSession, Seq[String]) => Seq[LoggedQuery]): TableFunctionOf = {
    val arguments = StringArguments(
      parameters,
      Seq(parameters -> "strings, or an array of strings"),
      "constant strings",
      lists = true)(strings => strings.nonEmpty && strings.size <= most && strings.forall(_.isDefined))
    new TableFunctionOf(name, what, arguments, example, LoggedQuery.schema)((session, strings) =>
      RowsNow(rows(session, strings.flatten).map(LoggedQuery.row)))
  }

  private def table(session: ClassicSession, strings: Seq[Option[String]]): TableRef =
    TableRef.inView(session, TableRefParser.ofText(session, strings.head.get))
}

/** When the rows of a table function are found. */
sealed private[function] trait FoundRows

/** While the query is analysed: they are few, and the query sees one state of them. */
final private[function] case class RowsNow(rows: Seq[Row]) extends FoundRows

/** Once, and not before somebody reads them. */
final private[function] case class RowsWhenRead(find: () => Seq[Row]) extends FoundRows

/**
 * The strings that a table function takes.
 *
 * @param signature
 *   their names, as its description shows them
 * @param meaning
 *   what each of them is
 * @param wanted
 *   what a refusal says that it takes
 * @param lists
 *   whether an array of strings stands for its elements
 * @param fit
 *   whether the function takes these; None is NULL
 */
final private[function] case class StringArguments(
    signature: String,
    meaning: Seq[(String, String)],
    wanted: String,
    lists: Boolean = false)(val fit: Seq[Option[String]] => Boolean)

/**
 * A table function, used in FROM: it makes rows of constant strings.
 *
 * @param rows
 *   called while the query is analysed
 */
final class TableFunctionOf private[function] (
    val name: String,
    what: String,
    arguments: StringArguments,
    example: String,
    schema: StructType)(rows: (ClassicSession, Seq[Option[String]]) => FoundRows) {

  val info: ExpressionInfo = {
    val meaning = arguments.meaning.map { case (n, m) => s"      * $n - $m\n" }
    FunctionEntry.describe(
      classOf[TableFunctionOf],
      name,
      s"_FUNC_(${arguments.signature}) - $what",
      if (meaning.isEmpty) "" else meaning.mkString("\n    Arguments:\n", "", ""),
      s"\n    Examples:\n      > SELECT * FROM _FUNC_($example);\n",
      "generator_funcs",
      "scala_udf")
  }

  /** One value, so that to register it again is no change that Spark would warn of. */
  val builder: Seq[Expression] => LogicalPlan = build

  private def build(expressions: Seq[Expression]): LogicalPlan = {
    val constants = expressions.map(constant)
    val strings = constants.flatten.flatten
    if (constants.contains(None) || !arguments.fit(strings))
      refuse(
        "ZORDER_INVALID_ARGUMENT.TABLE_FUNCTION",
        "function" -> name,
        "arguments" -> arguments.wanted,
        "example" -> example)
    val session = Shims.classic(SparkSession.active)
    rows(session, strings) match {
      case RowsNow(found) => LocalRelation.fromExternalRows(DataTypeUtils.toAttributes(schema), found)
      case RowsWhenRead(find) => LogicalRelation(new FunctionRelation(session.sqlContext, name, schema, find))
    }
  }

  /** A string or NULL, or the strings of an array; None for anything else. */
  private def constant(argument: Expression): Option[Seq[Option[String]]] =
    try if (!argument.resolved || !argument.foldable) None
      else (argument.dataType, argument.eval()) match {
        case (NullType | _: StringType, value) => Some(Seq(Option(value).map(_.toString)))
        case (ArrayType(_: StringType, _), list: ArrayData) if arguments.lists =>
          Some((0 until list.numElements()).map(i => Option(list.getUTF8String(i)).map(_.toString)))
        case _ => None
      }
    catch { case NonFatal(_) => None }
}

/** The rows of a function as a table that is read. */
final private[function] class FunctionRelation(
    override val sqlContext: SQLContext,
    name: String,
    override val schema: StructType,
    find: () => Seq[Row])
    extends BaseRelation
    with TableScan {
  private lazy val rows: Seq[Row] = find()

  override def buildScan(): RDD[Row] = {
    val tasks = (rows.length + FunctionRelation.RowsOfATask - 1) / FunctionRelation.RowsOfATask
    sqlContext.sparkContext.parallelize(rows, math.max(1, tasks))
  }

  override def toString: String = name
}

private[function] object FunctionRelation {

  /** A task is sent with its rows, and Spark limits the size of a message. */
  private val RowsOfATask = 1000
}

package org.apache.spark.sql.zorder.sql.statement

import java.util.Locale

import scala.util.Try

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.types.DataTypeUtils
import org.apache.spark.sql.execution.command.LeafRunnableCommand
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.IndexOptions
import org.apache.spark.sql.zorder.clustering.ClusteringRun
import org.apache.spark.sql.zorder.clustering.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.clustering.request.ClusterRequest
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.make.{IndexActions, IndexUpkeep}
import org.apache.spark.sql.zorder.insight.brief.{BriefAudit, BriefHistory, BriefRun}
import org.apache.spark.sql.zorder.insight.explain.{ExplainLog, ExplainQuery}
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice}
import org.apache.spark.sql.zorder.table.resolve.Maintenance
import org.apache.spark.sql.zorder.querylog.QueryLogging

/** A command with a fixed schema and a readable name in plans. */
abstract class ZOrderCommand(title: String, schema: StructType) extends LeafRunnableCommand {
  override val output: Seq[Attribute] = DataTypeUtils.toAttributes(schema)

  override def nodeName: String = title

  override def simpleString(maxFields: Int): String = s"$title $detail"

  /** The text after the title in a plan. */
  protected def detail: String

  protected def show(table: TableRef): String = table match {
    case name: TableRef.Name => name.text
    case TableRef.Location(path, _) => s"'$path'"
  }

  /** A list of a statement after its word; nothing if it is empty. */
  protected def named(what: String, items: Seq[String]): String =
    if (items.isEmpty) "" else items.mkString(s" $what (", ", ", ")")
}

/**
 * `OPTIMIZE ...` and `ZORDER TABLE ...`: one row.
 *
 * @param asRows
 *   short rows instead, for people
 */
final case class ClusterCommand(request: ClusterRequest, asRows: Boolean)
    extends ZOrderCommand("ZOrderTable", if (asRows) BriefRun.schema else ClusteringRun.resultSchema) {

  override protected def detail: String = {
    val by = named("by", request.by)
    val where = request.where.fold("")(p => s" where $p")
    val curve = request.curve.fold("")(c => s" using $c")
    val into = request.into.fold("")(p => s" into '$p'")
    val flags = (if (request.full) " full" else "") + (if (request.dryRun) " dry run" else "")
    val options = named("with", request.options.map(o => s"${o.option.name}=${o.text}").sorted)
    s"${show(request.target)}$where$by$curve$options$into$flags"
  }

  override def run(session: SparkSession): Seq[Row] = {
    val row = ClusteringRun.run(session, request)
    if (asRows) BriefRun.rows(row) else Seq(row)
  }
}

/** `ZORDER VACUUM`: one row for each directory it looked at. */
final case class VacuumCommand(
    table: TableRef,
    retainHours: Option[Double],
    late: Option[LateChoice],
    dryRun: Boolean)
    extends ZOrderCommand("ZOrderVacuum", Maintenance.vacuumSchema) {
  override protected def detail: String =
    show(table) + retainHours.fold("")(h => s" retain $h hours") +
      late.fold("")(c => s" late files ${c.word.toLowerCase(Locale.ROOT)}") + (if (dryRun) " dry run" else "")

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table))(
      Maintenance.vacuum(Shims.classic(session), table, retainHours, dryRun, late))
}

/** `ZORDER ROLLBACK`: brings back the state before the newest run. */
final case class RollbackCommand(table: TableRef)
    extends ZOrderCommand("ZOrderRollback", Maintenance.rollbackSchema) {
  override protected def detail: String = show(table)

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table)) {
      val classic = Shims.classic(session)
      val index = IndexUpkeep.before(classic, table)
      val row = Maintenance.rollback(classic, table)
      index.foreach { i =>
        i.committed()
        i.afterCommits(table)
      }
      Seq(row)
    }
}

/** `ZORDER REMOVE`: deletes our state and leaves the table as it is. */
final case class RemoveCommand(table: TableRef, home: Option[HomeChoice])
    extends ZOrderCommand("ZOrderRemove", Maintenance.removeSchema) {
  override protected def detail: String =
    show(table) + home.fold("")(h => s" ${h.words.toLowerCase(Locale.ROOT)}")

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table)) {
      val classic = Shims.classic(session)
      val dropIndex = IndexActions.dropOfElsewhere(classic, table)
      val row = Maintenance.remove(classic, table, home)
      dropIndex()
      Seq(row)
    }
}

/** A statement on the index of a table. */
abstract class IndexCommand(title: String, schema: StructType) extends ZOrderCommand(title, schema) {
  protected def table: TableRef

  protected def rows(session: ClassicSession): Seq[Row]

  override protected def detail: String = show(table)

  override def run(session: SparkSession): Seq[Row] =
    UnreadableFiles.explained(show(table))(rows(Shims.classic(session)))
}

/** `ZORDER INDEX`: one row that says what was made. */
final case class CreateIndexCommand(table: TableRef, columns: Seq[String], options: IndexOptions)
    extends IndexCommand("ZOrderIndex", IndexActions.writtenSchema) {
  override protected def detail: String =
    show(table) + named("columns", columns) + named("bloom", options.bloom) + named("values", options.values)

  override protected def rows(session: ClassicSession): Seq[Row] = {
    val parser = session.sessionState.sqlParser
    val (names, expressions) = columns.partition(c => Try(parser.parseMultipartIdentifier(c)).isSuccess)
    Seq(IndexActions.create(
      session,
      table,
      names.map(parser.parseMultipartIdentifier),
      expressions,
      options.bloom.map(parser.parseMultipartIdentifier),
      options.budget,
      options.values.map(parser.parseMultipartIdentifier)))
  }
}

/** `ZORDER REFRESH INDEX`: one row that says how many footers were read. */
final case class RefreshIndexCommand(table: TableRef, ifExists: Boolean)
    extends IndexCommand("ZOrderRefreshIndex", IndexActions.writtenSchema) {
  override protected def rows(session: ClassicSession): Seq[Row] =
    Seq(IndexActions.refresh(session, table, ifExists))
}

/** `ZORDER DESCRIBE INDEX`: one row a column. */
final case class DescribeIndexCommand(table: TableRef)
    extends IndexCommand("ZOrderDescribeIndex", IndexActions.describedSchema) {
  override protected def rows(session: ClassicSession): Seq[Row] = IndexActions.describe(session, table)
}

/** `ZORDER DROP INDEX`: one row. */
final case class DropIndexCommand(table: TableRef)
    extends IndexCommand("ZOrderDropIndex", IndexActions.droppedSchema) {
  override protected def rows(session: ClassicSession): Seq[Row] = Seq(IndexActions.drop(session, table))
}

/** `ZORDER AUDIT`: short rows of the table, its columns and its partitions. */
final case class AuditCommand(table: TableRef, columns: Seq[String])
    extends ZOrderCommand("ZOrderAudit", BriefAudit.schema) {
  override protected def detail: String =
    show(table) + named("by", columns)

  override def run(session: SparkSession): Seq[Row] =
    BriefAudit.rows(Shims.classic(session), table, Some(columns.mkString(", ")).filter(_.nonEmpty))
}

/** `ZORDER HISTORY`: short rows of the runs. */
final case class HistoryCommand(table: TableRef)
    extends ZOrderCommand("ZOrderHistory", BriefHistory.schema) {
  override protected def detail: String = show(table)

  override def run(session: SparkSession): Seq[Row] = BriefHistory.rows(Shims.classic(session), table)
}

/** `ZORDER EXPLAIN query`: rows for each scan of a query that is not run. */
final case class ExplainQueryCommand(query: String)
    extends ZOrderCommand("ZOrderExplain", ExplainQuery.schema) {
  override protected def detail: String = query

  override def run(session: SparkSession): Seq[Row] = ExplainQuery.ofText(Shims.classic(session), query)
}

/** `ZORDER EXPLAIN LOG table`: a row for each logged query and table, the worst first. */
final case class ExplainLogCommand(queries: String)
    extends ZOrderCommand("ZOrderExplainLog", ExplainLog.schema) {
  override protected def detail: String = queries

  override def run(session: SparkSession): Seq[Row] = ExplainLog.rows(Shims.classic(session), queries)
}

/** `ZORDER LOG START`: logs the session's queries from now on. */
final case class LogStartCommand(path: Option[String], keepLiterals: Option[Boolean])
    extends ZOrderCommand("ZOrderLogStart", QueryLogging.resultSchema) {
  override protected def detail: String =
    path.fold("")(p => s"'$p'") + keepLiterals.fold("")(keep =>
      if (keep) " keep literals" else " drop literals")

  override def run(session: SparkSession): Seq[Row] =
    Seq(QueryLogging.start(Shims.classic(session), path, keepLiterals))
}

/** `ZORDER LOG STOP`: writes what was logged and ends the log. */
final case class LogStopCommand() extends ZOrderCommand("ZOrderLogStop", QueryLogging.resultSchema) {
  override protected def detail: String = ""

  /**
   * Spark copies each plan that it compares with cached ones, and looks for a constructor that has
   * parameters.
   */
  override def makeCopy(newArgs: Array[AnyRef]): LogicalPlan = LogStopCommand()

  override def run(session: SparkSession): Seq[Row] = Seq(QueryLogging.stop(Shims.classic(session)))
}

package org.apache.spark.sql.zorder.sql

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.parser.ParserInterface
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.command.ExplainCommand
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.clustering.request.ClusterRequest
import org.apache.spark.sql.zorder.shims.{LineParser, Shims}
import org.apache.spark.sql.zorder.sql.statement.{
  ClusterCommand,
  StatementFilter,
  StatementParser,
  ZOrderCommand
}
import org.apache.spark.sql.zorder.table.resolve.Provider

/**
 * Parses `OPTIMIZE` and `ZORDER` statements and passes everything else on, unchanged, to the parser below.
 * The delegate is an ordinary field: other extensions search such fields for their own parser.
 */
final class ZOrderParser(session: SparkSession, override val delegate: ParserInterface)
    extends LineParser {

  override protected def ours(sqlText: String): Option[LogicalPlan] =
    new StatementPlanner(session, delegate).plan(sqlText)
}

object ZOrderParser {

  /** Puts our parser on top, unless it is there already (the extension may be applied twice). */
  def over(session: SparkSession, delegate: ParserInterface): ParserInterface = delegate match {
    case already: ZOrderParser => already
    case other => new ZOrderParser(session, other)
  }
}

/** Decides which statements are ours and turns them into commands. */
final class StatementPlanner(session: SparkSession, delegate: ParserInterface) extends Logging {

  /** The plan of our statements, and of those that we leave to Delta; None for all others. */
  def plan(sql: String): Option[LogicalPlan] = StatementFilter(sql).map { statement =>
    val command = new StatementParser(delegate).parse(statement)
    val plan = command match {
      case ClusterCommand(request, _) if request.deltaSyntax =>
        deltasOwn(statement.sql, request).getOrElse(command)
      case _ => command
    }
    statement.explain.fold(plan)(ExplainCommand(plan, _))
  }

  /**
   * Delta's plan, if its parser is below ours, the table is a Delta table and we do not take over its
   * OPTIMIZE.
   */
  private def deltasOwn(sql: String, request: ClusterRequest): Option[LogicalPlan] = {
    val takeOver = SessionKeys.TakeOverDelta.orDefault(Shims.classic(session).sessionState.conf)
    val theirs = if (takeOver) None else parsedBelow(sql)
    theirs.filter(_ => Provider.isDelta(session, request.target)).map { plan =>
      val by = if (request.by.isEmpty) "" else request.by.mkString(" BY (", ", ", ")")
      logInfo(
        s"OPTIMIZE of a Delta table runs as Delta's own; spark-zorder takes it as ZORDER TABLE <table>$by")
      plan
    }
  }

  private def parsedBelow(sql: String): Option[LogicalPlan] =
    try Some(delegate.parsePlan(sql)).filterNot(_.isInstanceOf[ZOrderCommand])
    catch { case NonFatal(_) => None }
}

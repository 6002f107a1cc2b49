package org.apache.spark.sql.zorder.querylog

import java.sql.Timestamp

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.plans.logical.{AnalysisHelper, Command, LogicalPlan}
import org.apache.spark.sql.execution.CommandExecutionMode
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, refuse}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.querylog.scan.{ColumnStatistics, ScanFinder}

/** Turns SQL texts into rows of a log. The queries are analysed and optimised in the session, never run. */
object SqlImport {

  /** The queries in the order of the texts, values included; each query on a table is one row. */
  def queries(session: ClassicSession, texts: Seq[String]): Seq[LoggedQuery] = {
    val now = new Timestamp(System.currentTimeMillis())
    val rows = texts.zipWithIndex.flatMap { case (text, i) =>
      val scans =
        // no query is run, so that nobody knows the keys of its joins
        try optimized(session, text).flatMap(new ScanFinder(Map.empty).of(_))
        catch {
          case NonFatal(e) =>
            refuse("ZORDER_INVALID_QUERY_LOG.SQL", "number" -> (i + 1), "cause" -> firstLine(e))
        }
      scans.map(s =>
        QueryShape.logged(s.table, now, LoggedRanges.of(s.ranges, literals = true, ColumnStatistics.none)))
    }
    QueryShape.counted(rows.filter(_.conjunctions.nonEmpty))
  }

  /**
   * A command in a text is not executed, its queries count. What is cached does not hide the table below it.
   */
  private def optimized(session: ClassicSession, text: String): Seq[LogicalPlan] =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val parsed = session.sessionState.sqlParser.parsePlan(text)
      val analyzed = session.sessionState.executePlan(parsed, CommandExecutionMode.SKIP).analyzed
      PlansOfStatement(analyzed).map(p => session.sessionState.optimizer.execute(p.clone()))
    }
}

/** The plans of a statement that read tables. */
private[zorder] object PlansOfStatement {

  /**
   * The analyzed plan, and the query of `CREATE TABLE ... AS SELECT` and the like, which is no child of the
   * command.
   */
  def apply(analyzed: LogicalPlan): Seq[LogicalPlan] = analyzed match {
    case command: Command =>
      val found = command.subqueries
      command +: command.innerChildren.collect { case q: LogicalPlan if !found.exists(_ eq q) => q }
    case query => Seq(query)
  }
}

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
        try optimized(session, text).flatMap(ScanFinder.of)
        catch {
          case NonFatal(e) =>
            refuse("ZORDER_INVALID_QUERY_LOG.SQL", "number" -> (i + 1), "cause" -> firstLine(e))
        }
      scans.map(s =>
        QueryShape.logged(s.table, now, LoggedRanges.of(s.ranges, literals = true, ColumnStatistics.none)))
    }
    QueryShape.counted(rows.filter(_.boxes.nonEmpty))
  }

  /** A command in a text is not executed, its query counts. What is cached does not hide the table below it. */
  private def optimized(session: ClassicSession, text: String): Seq[LogicalPlan] =
    AnalysisHelper.allowInvokingTransformsInAnalyzer {
      val parsed = session.sessionState.sqlParser.parsePlan(text)
      val analyzed = session.sessionState.executePlan(parsed, CommandExecutionMode.SKIP).analyzed
      val inside = analyzed match {
        case command: Command => command.innerChildren.collect { case query: LogicalPlan => query }
        case _ => Nil
      }
      (analyzed +: inside).map(p => session.sessionState.optimizer.execute(p.clone()))
    }
}

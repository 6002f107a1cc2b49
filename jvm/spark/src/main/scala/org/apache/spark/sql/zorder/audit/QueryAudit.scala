package org.apache.spark.sql.zorder.audit

import scala.util.Try

import org.apache.spark.sql.zorder.audit.read.{AuditedColumns, FileReading}
import org.apache.spark.sql.zorder.fit.{QueryBound, ReadShares}
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.workload.draw.LogBoxes
import org.apache.spark.sql.zorder.workload.log.QueryLog
import sparkzorder.curve.cost.QueryCost

/** What the queries of a log read of a table as it is, from metadata alone. */
private[audit] object QueryAudit {

  /** More columns than these no layout is made for. */
  private val MostColumns = 16

  /**
   * Each shape of query, the one first that a layout could spare most.
   *
   * @param log
   *   of this table alone
   */
  def rows(session: ClassicSession, table: ClusterTable, log: QueryLog): Seq[QueryRow] = {
    val columns = asked(session, table, log)
    val files = FileReading.filesOnly(session, table, columns)
    val blocks = files.map(_.whole)
    val sample = ZoneSample.of(blocks, columns.stats.length)
    val shapes =
      if (columns.stats.isEmpty || blocks.isEmpty) Nil
      else LogBoxes.of(session, table.schema, log, columns.names, sample).shapes
    val bound = new QueryBound(sample)
    val n = blocks.length.toDouble
    val each = shapes.map { g =>
      val share = QueryCost.mean(blocks, g.queries)
      // queries without a condition on these columns read everything, whatever the layout
      val least =
        if (g.queries.forall(_.columns.isEmpty)) 1.0 else bound.of(g.queries, ReadShares(n, n, n)).files
      QueryRow(g.text, g.weight, share, math.min(least, 1.0))
    }
    each.sortBy(q => (-q.excess, -q.weight, q.query))
  }

  /** A sentence on the log as a whole. */
  def summary(rows: Seq[QueryRow]): Option[String] = {
    val weight = rows.map(_.weight).sum
    def mean(of: QueryRow => Double) = HumanReadable.percent(rows.map(q => q.weight * of(q)).sum / weight)
    if (weight <= 0.0) None
    else Some(
      s"The queries of the log read ${mean(_.share)} of the rows on average; the least possible is about ${mean(_.bound)}.")
  }

  /** The log's columns with bounds in files, those that most queries ask first. */
  private def asked(session: ClassicSession, table: ClusterTable, log: QueryLog): AuditedColumns = {
    val names = AskedColumns.of(session, table, AuditedColumns.none, log).shares.map(_._1).take(MostColumns)
    if (names.isEmpty) AuditedColumns.none
    else Try(AuditedColumns.of(session, table, Some(names.mkString(", ")))).getOrElse(AuditedColumns.none)
  }
}

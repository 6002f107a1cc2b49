package org.apache.spark.sql.zorder.audit

import scala.util.Try

import org.apache.spark.sql.zorder.audit.read.AuditedColumns
import org.apache.spark.sql.zorder.run.request.ClusterColumns
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{ParquetZones, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.workload.log.{LoggedQuery, QueryLog}

/**
 * What the queries of a log ask.
 *
 * @param shares
 *   columns with bounds, each with its part of the log's weight, the heaviest first
 * @param beside
 *   the part of the weight of queries that filter none of the audited columns
 */
final private[audit] case class AskedColumns(shares: Seq[(String, Double)], beside: Double) {

  /** Those by which a layout would be made. */
  def worthwhile: Seq[String] =
    shares.filter(_._2 >= AskedColumns.LeastShare).map(_._1).take(AskedColumns.MostColumns)
}

private[audit] object AskedColumns {
  private val LeastShare = 0.1
  private val MostColumns = 4

  /** @param log of this table alone */
  def of(
      session: ClassicSession,
      table: ClusterTable,
      columns: AuditedColumns,
      log: QueryLog): AskedColumns = {
    val all = log.queries.map(_.weight).sum
    val texts = log.queries.flatMap(_.boxes).flatten.map(_.column).distinct
    val paths = texts.flatMap(t => resolved(session, table, t).map(t -> _)).toMap
    def asks(q: LoggedQuery): Set[Seq[String]] =
      q.boxes.flatten.flatMap(c => paths.get(c.column).map(_._2)).toSet
    val audited = columns.columns.flatMap(_.path).toSet
    val beside = log.queries.filter(q => (asks(q) & audited).isEmpty).map(_.weight).sum
    val each = paths.values.toSeq.distinct.filter { case (_, path) =>
      ParquetZones.bounds(StatColumn.in(table.schema, path).dataType)
    }.map { case (sql, path) => sql -> log.queries.filter(asks(_)(path)).map(_.weight).sum / all }
    AskedColumns(each.sortBy { case (sql, part) => (-part, sql) }, if (all <= 0.0) 0.0 else beside / all)
  }

  /** None for expressions, partition columns and what is no column of the table. */
  private def resolved(
      session: ClassicSession,
      table: ClusterTable,
      text: String): Option[(String, Seq[String])] =
    Try(ClusterColumns.resolve(session, table, table.schema, Seq(text)).head).toOption
      .flatMap(c => c.path.map(c.sql -> _))
}

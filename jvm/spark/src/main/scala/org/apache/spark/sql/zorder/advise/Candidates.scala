package org.apache.spark.sql.zorder.advise

import scala.util.Try

import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.fit.{LongSample, Sample}
import org.apache.spark.sql.zorder.run.request.{ClusterColumn, ClusterColumns}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.workload.draw.LogBoxes
import org.apache.spark.sql.zorder.workload.log.QueryLog

/**
 * The columns that a table might be clustered by.
 *
 * @param columns
 *   with a log, the columns in its queries' filters, the most frequent first; else every column that has an order
 * @param asked
 *   share of the log's weight that asks of a column; empty without a log
 * @param partitions
 *   the same for the table's partition columns
 */
final private[advise] case class Candidates(
    columns: Seq[ClusterColumn],
    asked: Map[String, Double],
    partitions: Seq[(String, Double)])

private[advise] object Candidates {

  /** The number of columns of a log to consider. */
  val MostAsked = 8

  /** Without a log, the statistics of this many columns are read. */
  private val MostScreened = 64

  def of(session: ClassicSession, table: ClusterTable, log: Option[QueryLog]): Candidates =
    log.fold(Candidates(ordered(session, table), Map.empty, Nil))(asked(session, table, _))

  private def asked(session: ClassicSession, table: ClusterTable, log: QueryLog): Candidates = {
    val weights = LogBoxes.of(session, table.schema, log, Nil, NoRows).others
    val same = session.sessionState.conf.resolver
    val (partitions, data) =
      weights.partition { case (name, _) =>
        table.constantColumns.exists(p => same(ColumnPath.sql(Seq(p)), name))
      }
    val known = data.flatMap { case (name, weight) => column(session, table, name).map(_ -> weight) }
    Candidates(known.map(_._1).take(MostAsked), known.map { case (c, w) => c.sql -> w }.toMap, partitions)
  }

  /** Expressions have no statistics to compare with, and what is no column of the table cannot be clustered by. */
  private def column(session: ClassicSession, table: ClusterTable, name: String): Option[ClusterColumn] =
    Try(ClusterColumns.resolve(session, table, table.schema, Seq(name)).head).toOption.filter(_.path.nonEmpty)

  private def ordered(session: ClassicSession, table: ClusterTable): Seq[ClusterColumn] = {
    val data = table.schema.filterNot(f => table.constantColumns.contains(f.name))
    val names = ClusterColumns.orderedPaths(data).map(ColumnPath.sql)
    names.take(MostScreened).flatMap(column(session, table, _))
  }

  /** To ask a log for its columns without rows at hand. */
  private val NoRows = Sample(IndexedSeq(LongSample(Array.emptyLongArray, Array.emptyBooleanArray)))
}

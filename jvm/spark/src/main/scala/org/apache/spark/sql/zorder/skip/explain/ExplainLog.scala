package org.apache.spark.sql.zorder.skip.explain

import scala.util.Try

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{Attribute, Expression}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.IndexStatements
import org.apache.spark.sql.zorder.skip.index.IndexStore
import org.apache.spark.sql.zorder.skip.scan.ScanIndexes
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.workload.draw.LoggedFilter
import org.apache.spark.sql.zorder.workload.log.{LoggedQuery, QueryLog, QueryText}

/** What the logged queries would skip today, table by table. No query is run. */
object ExplainLog {

  val schema: StructType = new StructType()
    .add("table", StringType).add("query", StringType).add("filter", StringType).add("weight", DoubleType)
    .add("considered", LongType).add("pruned", LongType).add("kept", LongType)
    .add("pruned_by", StringType).add("reason", StringType)

  /** One row for each query shape and table, those that open the most files in all first. */
  def rows(session: ClassicSession, log: String): Seq[Row] = {
    val queries = QueryLog.read(session, log).queries
    val found = queries.groupBy(_.table).toSeq.flatMap {
      case (None, same) => same.map(q => row(q, None, "the log names no table"))
      case (Some(table), same) => ofTable(session, table, same)
    }
    found.sortBy { case (row, opened) =>
      (-opened, String.valueOf(row.get(0)), row.getString(1))
    }.map(_._1)
  }

  /** With the number of files that all runs of the query open. */
  private type Ranked = (Row, Double)

  private def ofTable(session: ClassicSession, table: String, queries: Seq[LoggedQuery]): Seq[Ranked] =
    try {
      val plain = IndexStatements.plain(session, ref(session, table))
      val listed = plain.files().toIndexedSeq
      if (!SessionKeys.SkippingEnabled.orDefault(session.sessionState.conf))
        queries.map(row(_, Some(listed.length.toLong), s"${SessionKeys.SkippingEnabled.key} is false"))
      else IndexStore.of(session, plain.root).newest() match {
        case None =>
          queries.map(row(_, Some(listed.length.toLong), "no statistics index: make one with ZORDER INDEX"))
        case Some((_, index)) =>
          val files = new ListedFiles(index.files, plain.root, listed)
          val partitioning = plain.partitionSchema.fieldNames.toSet
          val names = ScanIndexes.unanswered(plain.schema, plain.partitionSchema, index)
          val unanswered: Expression => Boolean = {
            case a: Attribute => names(a.name)
            case _ => false
          }
          val report =
            new FilterReport(index, files, unanswered, partitioning, new MissingStatistics(session))
          val filter = new LoggedFilter(session, plain.schema)
          val full = new ExplainedFilter(index, unanswered, partitioning)
          queries.map { q =>
            val found = filter.whereTrue(q, full)
            val gaps = filter.unknown(q).map(Gap.Said(_)).toVector
            val counts = report.counted(
              QueryText.of(q),
              found.copy(gaps = gaps ++ found.gaps),
              0)(filter.whereTrue(q, _))
            val reason = Seq(counts.reason, files.stale).filter(_.nonEmpty).mkString("; ")
            row(q, Some(files.considered), reason, counts.pruned, counts.by)
          }
      }
    } catch {
      case e: ZOrderException => queries.map(row(_, None, e.getMessage))
    }

  private def ref(session: ClassicSession, table: String): TableRef =
    if (TableRef.isPath(table)) TableRef.Location(table)
    else TableRef.Name(
      Try(session.sessionState.sqlParser.parseMultipartIdentifier(table)).getOrElse(Seq(table)))

  private def row(
      q: LoggedQuery,
      considered: Option[Long],
      reason: String,
      pruned: Long = 0,
      by: Seq[(PruneCause, Long)] = Nil): Ranked = {
    val kept = considered.map(_ - pruned)
    Row(
      q.table.orNull,
      q.query,
      QueryText.of(q),
      q.weight,
      considered.map(Long.box).orNull,
      pruned,
      kept.map(Long.box).orNull,
      by.map { case (cause, files) => s"${cause.name} ($files)" }.mkString(", "),
      reason) -> q.weight * kept.getOrElse(0L)
  }
}

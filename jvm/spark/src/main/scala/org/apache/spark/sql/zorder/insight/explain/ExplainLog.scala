package org.apache.spark.sql.zorder.insight.explain

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skipping.ScanIndexes
import org.apache.spark.sql.zorder.skipping.index.IndexStore
import org.apache.spark.sql.zorder.skipping.make.IndexActions
import org.apache.spark.sql.zorder.skipping.scan.FilesToRead
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.querylog.{LoggedQuery, QueryLog, QueryText}

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

  /** A row, and the files that all runs of its query open. */
  private type Ranked = (Row, Double)

  private def ofTable(session: ClassicSession, table: String, queries: Seq[LoggedQuery]): Seq[Ranked] =
    try {
      val plain = IndexActions.plain(session, ref(session, table))
      val listed = plain.files().toIndexedSeq
      if (!SessionKeys.SkippingEnabled.orDefault(session.sessionState.conf))
        queries.map(row(_, Some(listed.length.toLong), FileScans.Off))
      else IndexStore.of(session, plain.root).newestReadable() match {
        case None =>
          queries.map(row(_, Some(listed.length.toLong), "no statistics index: make one with ZORDER INDEX"))
        case Some(index) =>
          val files = ScannedFiles.below(plain.root, index.files, listed)
          val partitioning = plain.partitionSchema.fieldNames.toSet
          val names = ScanIndexes.unanswered(plain.schema, plain.partitionSchema, index)
          val unanswered = (e: Expression) => FilesToRead.isUnanswered(e)(names)
          val report =
            new FilterReport(index, files, unanswered, partitioning, new MissingInIndex(session))
          val filter = new LoggedFilter(session, plain.schema)
          val full = new ExplainedFilter(index, unanswered, partitioning)
          queries.map { q =>
            val found = filter.whereTrue(q, full)
            val gaps = filter.unknown(q).map(Gap.Sentence(_)).toVector
            val counts = report.counted(
              QueryText.of(q),
              found.copy(gaps = gaps ++ found.gaps),
              0)(filter.whereTrue(q, _))
            val reason = FilterReport.joined(counts.reason, report.stale)
            row(q, Some(files.considered), reason, counts.pruned, counts.by)
          }
      }
    } catch {
      case e: ZOrderException => queries.map(row(_, None, e.getMessage))
      // the other tables of the log have rows, whatever is the matter with this one
      case NonFatal(e) => queries.map(row(_, None, ZOrderException.firstLine(e)))
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

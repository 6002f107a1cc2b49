package org.apache.spark.sql.zorder.workload.draw

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.fit.Sample
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.workload.log.{LoggedQuery, QueryLog, QueryText}
import sparkzorder.curve.cost.Query

/**
 * The queries of a log on one table as boxes over some of its columns.
 *
 * @param shapes
 *   weights add up to 1; conditions on other columns are left out, which makes a query larger, never smaller
 * @param others
 *   other columns in the queries' filters with their share of the log's weight, the largest first
 */
final case class LogBoxes(shapes: IndexedSeq[QueryGroup], others: Seq[(String, Double)]) {
  def queries: IndexedSeq[Query] = shapes.flatMap(_.queries)
}

/**
 * Queries with the same kinds of conditions on the same columns.
 *
 * @param text
 *   the filter without its values
 */
final case class QueryGroup(text: String, queries: IndexedSeq[Query]) {
  def weight: Double = queries.map(_.weight).sum
}

object LogBoxes {

  /** The number of queries drawn from a log that has no values or more queries than this. */
  val Queries = 400

  /**
   * Deterministic for the same log and sample.
   *
   * @param log
   *   of this table alone ([[QueryLog.on]])
   * @param columns
   *   columns or expressions as SQL text; a box has them by their place in this list
   * @param sample
   *   sampled rows with these columns in this order; used where the log has no values
   */
  def of(
      session: ClassicSession,
      schema: StructType,
      log: QueryLog,
      columns: Seq[String],
      sample: Sample): LogBoxes = drawing(session, schema, log, columns)(sample)

  /** The same for several samples, as of the partitions of a table: the columns are looked up once. */
  def drawing(
      session: ClassicSession,
      schema: StructType,
      log: QueryLog,
      columns: Seq[String]): Sample => LogBoxes = {
    val asked = columns.map(AskedColumn.of(session, schema, _)).toIndexedSeq
    val texts = log.queries.flatMap(_.boxes).flatten.map(_.column).distinct
    val resolved = texts.flatMap(t => AskedColumn.of(session, schema, t).map(t -> _)).toMap
    val all = log.queries.map(_.weight).sum
    sample => {
      val pick = new QueryDrawing(asked, resolved, sample)
      val drawn = spread(log.queries.toIndexedSeq, all, pick.isExact).map { case (q, weight, times) =>
        QueryText.of(q) -> pick.queries(q, weight, times)
      }
      val groups = drawn.map(_._1).distinct.map(t => QueryGroup(t, drawn.filter(_._1 == t).flatMap(_._2)))
      LogBoxes(groups, pick.others(log.queries, all))
    }
  }

  /** Each query with its weight and the number of times to draw it. */
  private def spread(
      queries: IndexedSeq[LoggedQuery],
      all: Double,
      isExact: LoggedQuery => Boolean): IndexedSeq[(LoggedQuery, Double, Int)] =
    if (queries.size <= Queries)
      queries.map { q =>
        val share = q.weight / all
        (q, share, if (isExact(q)) 1 else math.max(1, math.round(share * Queries).toInt))
      }
    else {
      val until = queries.scanLeft(0.0)(_ + _.weight).tail
      val hits = (0 until Queries).map { i =>
        val at = until.indexWhere(_ > (i + 0.5) / Queries * all)
        if (at < 0) queries.size - 1 else at
      }
      hits.groupBy(i => i).toIndexedSeq.sortBy(_._1).map { case (i, same) =>
        (queries(i), same.size.toDouble / Queries, if (isExact(queries(i))) 1 else same.size)
      }
    }
}

package org.apache.spark.sql.zorder.workload.log

import scala.util.control.NonFatal

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}

/**
 * Logged queries, each shape once.
 *
 * @param name
 *   what messages call the log
 */
final case class QueryLog(name: String, queries: Seq[LoggedQuery]) {

  /** The queries on one table, by its name or its place; a query without a table is one of any. */
  def on(session: ClassicSession, table: ClusterTable): QueryLog = {
    val names = new TableMatcher(session, table)
    copy(queries = queries.filter(_.table.forall(names.means)))
  }
}

object QueryLog {

  /** The log that a run's options name; None where they name none. */
  def of(session: ClassicSession, options: RunOptions): Option[QueryLog] =
    options.queryLog.map(read(session, _))

  /**
   * A table, a temporary view, or a path (with a slash) of Parquet files.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   one sentence: it is not there, or not in the documented format
   */
  def read(session: ClassicSession, name: String): QueryLog =
    try {
      val rows: DataFrame = if (TableRef.isPath(name)) session.read.parquet(name) else session.table(name)
      QueryLog(name, QueryShape.counted(QueryLogReader.read(name, rows)))
    } catch {
      case e: ZOrderException => throw e
      case NonFatal(e) =>
        refuse(s"The query log $name cannot be read: ${String.valueOf(e.getMessage).split('\n').head.trim}")
    }
}

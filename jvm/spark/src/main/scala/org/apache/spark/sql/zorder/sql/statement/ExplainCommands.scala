package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.explain.{ExplainLog, ExplainQuery}

/** `ZORDER EXPLAIN query`: rows for each scan of a query that is not run. */
final case class ExplainQueryCommand(query: String)
    extends ZOrderCommand("ZOrderExplain", ExplainQuery.schema) {
  override protected def detail: String = query

  override def run(session: SparkSession): Seq[Row] = ExplainQuery.ofText(Shims.classic(session), query)
}

/** `ZORDER EXPLAIN LOG table`: a row for each logged query and table, the worst first. */
final case class ExplainLogCommand(queries: String)
    extends ZOrderCommand("ZOrderExplainLog", ExplainLog.schema) {
  override protected def detail: String = queries

  override def run(session: SparkSession): Seq[Row] = ExplainLog.rows(Shims.classic(session), queries)
}

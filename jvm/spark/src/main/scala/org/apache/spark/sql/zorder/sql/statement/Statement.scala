package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.zorder.conf.IndexOptions
import org.apache.spark.sql.zorder.run.request.ClusterRequest
import org.apache.spark.sql.zorder.table.TableRef
import org.apache.spark.sql.zorder.table.parquet.{HomeChoice, LateChoice}

/** A parsed statement. Its table has not been looked up yet. */
sealed trait Statement

object Statement {

  /**
   * `OPTIMIZE ...` or `ZORDER TABLE ...`.
   *
   * @param deltaSyntax
   *   it is an `OPTIMIZE` with only clauses that Delta's own statement has, too
   */
  final case class Cluster(request: ClusterRequest, deltaSyntax: Boolean) extends Statement

  final case class Vacuum(
      table: TableRef,
      retainHours: Option[Double],
      late: Option[LateChoice],
      dryRun: Boolean)
      extends Statement

  final case class Rollback(table: TableRef) extends Statement

  final case class Remove(table: TableRef, home: Option[HomeChoice]) extends Statement

  /**
   * `ZORDER INDEX`.
   *
   * @param columns
   *   as the statement names them; empty for all that files keep bounds of
   */
  final case class CreateIndex(table: TableRef, columns: Seq[String], options: IndexOptions) extends Statement

  /** With `ifExists`, a table without an index is left alone. */
  final case class RefreshIndex(table: TableRef, ifExists: Boolean) extends Statement

  final case class DescribeIndex(table: TableRef) extends Statement

  final case class DropIndex(table: TableRef) extends Statement

  /** `ZORDER EXPLAIN`: what a query would skip. */
  final case class ExplainQuery(query: String) extends Statement

  /** `ZORDER EXPLAIN LOG`: the name of a table or view, or a path. */
  final case class ExplainLog(log: String) extends Statement

  /** `keepLiterals` is None where the session's setting decides. */
  final case class LogStart(path: Option[String], keepLiterals: Option[Boolean]) extends Statement

  case object LogStop extends Statement
}

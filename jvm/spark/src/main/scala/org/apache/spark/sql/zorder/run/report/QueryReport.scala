package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/**
 * The queries of a log that ask the same columns in the same way, in the result.
 *
 * @param query
 *   their filter without values, as `a = ? AND b BETWEEN ? AND ?`
 * @param weight
 *   their part of the log, 0 to 1
 */
final case class QueryReport(query: String, weight: Double, files: Shares, rowGroups: Shares, pages: Shares) {
  def row: Row = Row(query, weight, files.row, rowGroups.row, pages.row)
}

object QueryReport {

  /** So many of the heaviest are shown; all of them count. */
  val Most = 100

  val schema: StructType = new StructType()
    .add("query", StringType)
    .add("weight", DoubleType)
    .add("files", Shares.schema)
    .add("row_groups", Shares.schema)
    .add("pages", Shares.schema)
}

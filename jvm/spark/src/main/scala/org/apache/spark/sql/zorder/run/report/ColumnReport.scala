package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/** One clustering column in the result. */
final case class ColumnReport(name: String, files: Shares, rowGroups: Shares, pages: Shares) {
  def row: Row = Row(name, files.row, rowGroups.row, pages.row)
}

object ColumnReport {
  val schema: StructType = new StructType()
    .add("name", StringType)
    .add("files", Shares.schema)
    .add("row_groups", Shares.schema)
    .add("pages", Shares.schema)
}

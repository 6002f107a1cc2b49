package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/** A layout that a run compared: the mean shares of files and of pages that the queries read of it. */
final case class AlternativeReport(layout: String, files: Double, pages: Double) {
  def row: Row = Row(layout, files, pages)
}

object AlternativeReport {
  val schema: StructType = new StructType()
    .add("layout", StringType)
    .add("files", DoubleType)
    .add("pages", DoubleType)
}

/** What look-ups and queries read before a run and after it, as the result shows it. */
final case class ReadReport(
    columns: Seq[ColumnReport] = Nil,
    queries: Seq[QueryReport] = Nil,
    others: Seq[OtherReport] = Nil,
    alternatives: Seq[AlternativeReport] = Nil)

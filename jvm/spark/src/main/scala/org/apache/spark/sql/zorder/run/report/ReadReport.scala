package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

/** What look-ups and queries read before a run and after it, as the result shows it. */
final case class ReadReport(
    columns: Seq[ColumnReport] = Nil,
    queries: Seq[QueryReport] = Nil,
    others: Seq[OtherReport] = Nil,
    alternatives: Seq[AlternativeReport] = Nil)

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

/**
 * A column that the table is not clustered by and that files skip by today, in the result.
 *
 * @param asOneMoreColumn
 *   the share of files that its look-ups would read if it were one more clustering column; for those that get
 *   worse
 */
final case class OtherReport(name: String, files: Shares, asOneMoreColumn: Option[Double]) {
  def row: Row = Row(name, files.row, asOneMoreColumn.orNull, verdict)

  def getsWorse: Boolean = verdict == OtherReport.Worse

  def verdict: String = files.forecast.zip(files.now).headOption.fold("") { case (forecast, now) =>
    if (forecast - now > OtherReport.Step) OtherReport.Worse
    else if (now - forecast > OtherReport.Step) OtherReport.Better
    else OtherReport.Same
  }

  /** What the reason of a run says about a column that gets worse. */
  def text: String = s"$name (files ${files.text}" +
    asOneMoreColumn.fold(")")(share => s", ${HumanReadable.share(share)} as one more column)")
}

object OtherReport {
  private val Worse = "GETS WORSE"
  private val Better = "GETS BETTER"
  private val Same = "STAYS"

  /** A change of less than this is none to speak of. */
  private val Step = 0.1

  val schema: StructType = new StructType()
    .add("name", StringType)
    .add("files", Shares.schema)
    .add("as_one_more_column", DoubleType)
    .add("verdict", StringType)
}

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

package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._

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

  /** What the reason of a run says of a column that gets worse. */
  def said: String = s"$name (files ${files.said}" +
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

package org.apache.spark.sql.zorder.run.report

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.fit.ReadShares

/**
 * Share of the rows that is read at one level (files, row groups or pages): by a look-up of one value,
 * averaged over the non-NULL rows of a column, or by the queries of one shape. None where it is not known,
 * e.g. measured in a dry run.
 */
final case class Shares(
    now: Option[Double] = None,
    forecast: Option[Double] = None,
    measured: Option[Double] = None,
    bound: Option[Double] = None) {
  def row: Row = Row(now.orNull, forecast.orNull, measured.orNull, bound.orNull)

  def text: String = s"${Shares.text(now)} -> ${Shares.text(forecast)}"

  /** Whether more is read than now, by more than the error of a forecast. */
  def rises: Boolean = now.exists(n => forecast.exists(f => f - n > math.max(Shares.Noise, Shares.Tenth * n)))
}

object Shares {
  private val Noise = 0.002
  private val Tenth = 0.1

  val schema: StructType = new StructType()
    .add("now", DoubleType)
    .add("forecast", DoubleType)
    .add("measured", DoubleType)
    .add("bound", DoubleType)

  private def text(share: Option[Double]): String = share.fold("?")(HumanReadable.share)
}

/** Readings of one column or query at four times. */
final private[run] case class ReadAt(
    now: Option[ReadShares],
    forecast: Option[ReadShares],
    measured: Option[ReadShares],
    bound: Option[ReadShares]) {
  def at(level: ReadShares => Double): Shares =
    Shares(now.map(level), forecast.map(level), measured.map(level), bound.map(level))
}

package org.apache.spark.sql.zorder.audit

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.audit.measure.Rounded

/**
 * What queries of one shape read of a table.
 *
 * @param query
 *   their filter without values
 * @param weight
 *   their part of the log
 * @param share
 *   the part of the rows that is in files which their filter does not rule out
 * @param bound
 *   the least share with a layout that is made for them alone
 */
final private[audit] case class QueryRow(query: String, weight: Double, share: Double, bound: Double) {

  /** Worth a look, and something that a layout can mend. */
  def alert: Boolean = share > QueryRow.Much && share > QueryRow.Times * bound

  /** What a layout might spare. */
  def excess: Double = weight * math.max(0.0, share - bound)

  def row: Row =
    Row(query, Rounded(weight), Rounded(share), Rounded(bound), alert, reason)

  private def reason: String =
    if (alert) "A layout made for it could read much less."
    else if (share <= QueryRow.Much) "It reads little."
    else "No layout helps much: the filter holds for many rows, or asks no column by its values."
}

private[zorder] object QueryRow {
  private val Much = 0.3
  private val Times = 1.5

  val schema: StructType = new StructType()
    .add("query", StringType).add("weight", DoubleType).add("share", DoubleType).add("bound", DoubleType)
    .add("alert", BooleanType).add("reason", StringType)
}

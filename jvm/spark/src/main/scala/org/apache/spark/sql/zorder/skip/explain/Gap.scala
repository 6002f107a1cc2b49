package org.apache.spark.sql.zorder.skip.explain

/** Why a part of a filter leaves out fewer files than it might. */
sealed trait Gap

object Gap {

  /** Whole sentences that need no look at files. */
  final case class Said(reason: String) extends Gap

  /** The index has the column of this number; some of its files may lack statistics. */
  final case class Column(number: Int) extends Gap
}

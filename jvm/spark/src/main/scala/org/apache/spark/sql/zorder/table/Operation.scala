package org.apache.spark.sql.zorder.table

/**
 * What a commit did to a table.
 *
 * @param text
 *   in the history, in run records and in journals
 */
sealed abstract class Operation(val text: String)

object Operation {

  /** A run rewrote files. */
  case object Optimize extends Operation("OPTIMIZE")

  /** The last run was undone. */
  case object Rollback extends Operation("ROLLBACK")

  def of(text: String): Option[Operation] = Seq(Optimize, Rollback).find(_.text == text)
}

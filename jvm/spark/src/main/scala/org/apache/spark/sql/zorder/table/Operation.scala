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

  /** Files that a job had written to an old place took the place of the rows that the table had there. */
  case object Replace extends Operation("REPLACE")

  /** Files that had moved were brought back to where they were before the first run. */
  case object MoveHome extends Operation("MOVE HOME")

  def of(text: String): Option[Operation] = Seq(Optimize, Rollback, Replace, MoveHome).find(_.text == text)
}

package org.apache.spark.sql.zorder.shims

import org.apache.spark.sql.SparkSession

/** Runs code of Spark and of table formats that needs the thread's active session. */
object ActiveSession {

  /** Runs `body` with `session` as the thread's active session. */
  def during[A](session: Shims.ClassicSession)(body: => A): A = {
    val before = SparkSession.getActiveSession
    Shims.setActive(session)
    try body
    finally before.fold(SparkSession.clearActiveSession())(s => Shims.setActive(Shims.classic(s)))
  }
}

package org.apache.spark.sql.zorder.table.parquet.commit

import scala.util.Try

import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** How long a commit waits for jobs that are writing to the table. */
private[zorder] object CommitWait {

  val Key: String = SessionKeys.CommitWait.key

  def of(session: ClassicSession): Long = {
    val seconds =
      Try(session.sessionState.conf.getConfString(Key, SessionKeys.CommitWait.default).trim.toDouble)
        .getOrElse(SessionKeys.CommitWait.default.toDouble)
    math.max(0L, (seconds * 1000).toLong)
  }
}

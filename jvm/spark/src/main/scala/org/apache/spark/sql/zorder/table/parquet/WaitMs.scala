package org.apache.spark.sql.zorder.table.parquet

import scala.util.Try

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** How long a commit waits for jobs that are writing to the table. */
private[zorder] object WaitMs {

  val Key = "spark.zorder.commit.waitSeconds"

  def of(session: ClassicSession): Long = {
    val seconds = Try(session.sessionState.conf.getConfString(Key, "10").trim.toDouble).getOrElse(10.0)
    math.max(0L, (seconds * 1000).toLong)
  }
}

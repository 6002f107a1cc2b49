package org.apache.spark.sql.zorder.run.rewrite

import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, TableWrite}
import org.apache.spark.sql.zorder.table.resolve.IntoTarget

/** Where a run puts its files: the table itself, or a copy beside it (`INTO`), which is plain Parquet. */
private[run] object Destination {
  def begin(session: ClassicSession, table: ClusterTable, into: Option[String], runId: String): TableWrite =
    into match {
      case None => table.begin(runId)
      case Some(path) => IntoTarget.begin(session, IntoTarget.open(session, path, table), table, runId)
    }
}

package org.apache.spark.sql.zorder.workload.log

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.conf.SessionKeys

/** How the queries of a session are logged. */
final case class QueryLogSettings(path: String, keepLiterals: Boolean, maxQueries: Int)

object QueryLogSettings {

  /** None while the session sets no path: nothing is logged then. */
  def of(conf: SQLConf): Option[QueryLogSettings] =
    Some(SessionKeys.QueryLogPath.of(conf)).filter(_.nonEmpty).map { path =>
      QueryLogSettings(
        path,
        keepLiterals = SessionKeys.QueryLogLiterals.of(conf) == "keep",
        SessionKeys.QueryLogMost.of(conf))
    }
}

package org.apache.spark.sql.zorder.workload.log

import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.conf.{SessionKeys, Value}

/** How the queries of a session are logged. */
final case class QueryLogSettings(path: String, keepLiterals: Boolean, maxQueries: Int)

object QueryLogSettings {

  /** None while the session sets no path: nothing is logged then. */
  def of(conf: SQLConf): Option[QueryLogSettings] =
    Some(SessionKeys.text(conf, SessionKeys.QueryLogPath).trim).filter(_.nonEmpty).map { path =>
      QueryLogSettings(
        path,
        Value.oneOf(
          SessionKeys.QueryLogLiterals.key,
          SessionKeys.text(conf, SessionKeys.QueryLogLiterals),
          Seq("drop", "keep")) == "keep",
        Value.whole(
          SessionKeys.QueryLogMost.key,
          SessionKeys.text(conf, SessionKeys.QueryLogMost),
          1,
          10000000).toInt
      )
    }
}

package org.apache.spark.sql.zorder.sql.statement

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.workload.log.QueryLogging

/** `ZORDER LOG START`: logs the session's queries from now on. */
final case class LogStartCommand(path: Option[String], keepLiterals: Option[Boolean])
    extends ZOrderCommand("ZOrderLogStart", QueryLogging.resultSchema) {
  override protected def detail: String =
    path.fold("")(p => s"'$p'") + keepLiterals.fold("")(keep =>
      if (keep) " keep literals" else " drop literals")

  override def run(session: SparkSession): Seq[Row] =
    Seq(QueryLogging.start(Shims.classic(session), path, keepLiterals))
}

/** `ZORDER LOG STOP`: writes what was logged and ends the log. */
final case class LogStopCommand() extends ZOrderCommand("ZOrderLogStop", QueryLogging.resultSchema) {
  override protected def detail: String = ""

  override def run(session: SparkSession): Seq[Row] = Seq(QueryLogging.stop(Shims.classic(session)))
}

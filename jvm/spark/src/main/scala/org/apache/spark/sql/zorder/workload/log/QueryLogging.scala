package org.apache.spark.sql.zorder.workload.log

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.{LongType, StringType, StructType}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * Turns the query log of a session on and off. The session's settings decide: the next statement applies them.
 * `ZORDER LOG START` and `STOP` change them.
 */
object QueryLogging extends Logging {

  /** The result of `START` and `STOP`. `queries`: filters seen; `shapes`: distinct ones kept; `left_out`: not kept. */
  val resultSchema: StructType = new StructType()
    .add("path", StringType).add("status", StringType)
    .add("queries", LongType).add("shapes", LongType).add("left_out", LongType)

  /** Starts a log or continues the same one. Without a path it is the session's own. */
  def start(session: ClassicSession, path: Option[String], keepLiterals: Option[Boolean]): Row = {
    val conf = session.sessionState.conf
    val directory = path.orElse(Some(SessionKeys.QueryLogPath.of(conf)).filter(_.nonEmpty))
      .getOrElse(refuse(
        s"Say where the log goes: ZORDER LOG START '/logs/queries', or SET ${SessionKeys.QueryLogPath.key}."))
    val root = new Path(directory)
    val fs = root.getFileSystem(session.sessionState.newHadoopConf())
    val qualified = fs.makeQualified(root).toString
    try if (!fs.mkdirs(root)) refuse(s"The query log cannot be written to $qualified: it is no directory.")
    catch {
      case e: java.io.IOException =>
        refuse(s"The query log cannot be written to $qualified: ${e.getMessage}.")
    }
    conf.setConfString(SessionKeys.QueryLogPath.key, qualified)
    keepLiterals.foreach { keep =>
      conf.setConfString(SessionKeys.QueryLogLiterals.key, if (keep) "keep" else "drop")
    }
    follow(session)
    row("STARTED", running(session))
  }

  /** Stops the log and writes the queries that have ended. */
  def stop(session: ClassicSession): Row = {
    val last = running(session)
    session.conf.unset(SessionKeys.QueryLogPath.key)
    session.conf.unset(SessionKeys.QueryLogLiterals.key)
    // the application's own settings may name a path too
    session.sessionState.conf.setConfString(SessionKeys.QueryLogPath.key, "")
    follow(session)
    row(if (last.isEmpty) "NOT_STARTED" else "STOPPED", last)
  }

  /** Runs for every analysed statement: it reads the settings once and never fails the statement. */
  def check(session: SparkSession): LogicalPlan => Unit = {
    val classic = Shims.classic(session)
    var followed: Option[QueryLogSettings] = None
    _ =>
      try {
        val wanted = QueryLogSettings.of(classic.sessionState.conf)
        if (wanted != followed) {
          followed = wanted
          follow(classic)
        }
      } catch {
        case e @ (NonFatal(_) | _: LinkageError) => logWarning("The query log cannot be turned on or off", e)
      }
  }

  private def follow(session: ClassicSession): Unit = synchronized {
    val wanted = QueryLogSettings.of(session.sessionState.conf)
    val last = running(session)
    if (last.map(_.settings) != wanted) {
      last.foreach(_.finish())
      wanted.foreach(new QueryLogListener(session, _).register())
    }
  }

  private def running(session: ClassicSession): Option[QueryLogListener] =
    session.listenerManager.listListeners().collectFirst { case l: QueryLogListener => l }

  private def row(status: String, log: Option[QueryLogListener]): Row = Row(
    log.map(_.settings.path).orNull,
    status,
    log.fold(0L)(_.recorder.seen),
    log.fold(0L)(_.recorder.kept.toLong),
    log.fold(0L)(_.recorder.leftOut))
}

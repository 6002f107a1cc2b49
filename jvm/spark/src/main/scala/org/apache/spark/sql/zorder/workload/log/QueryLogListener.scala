package org.apache.spark.sql.zorder.workload.log

import java.sql.Timestamp
import java.util.concurrent.TimeUnit.NANOSECONDS

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerApplicationEnd}
import org.apache.spark.sql.execution.QueryExecution
import org.apache.spark.sql.util.QueryExecutionListener
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.workload.scan.{ScanStatistics, Scans}

/**
 * Logs the filters of a session's queries. Spark calls it on a thread of its own after a query has ended, so
 * no query waits for it. An error is logged once.
 */
final private[workload] class QueryLogListener(session: ClassicSession, val settings: QueryLogSettings)
    extends QueryExecutionListener
    with Logging {
  private val directory = new Path(settings.path)
  private val facts = new ScanStatistics(session)
  @volatile private var complained = false

  val recorder: QueryRecorder =
    new QueryRecorder(settings.maxQueries, batch => guarded(QueryLogWriter.append(session, directory, batch)))

  private val atEnd = new SparkListener {
    override def onApplicationEnd(end: SparkListenerApplicationEnd): Unit = recorder.flush()
  }

  override def onSuccess(funcName: String, qe: QueryExecution, durationNs: Long): Unit = guarded {
    val began = new Timestamp(System.currentTimeMillis() - NANOSECONDS.toMillis(durationNs))
    Scans.of(qe.optimizedPlan).foreach { scan =>
      val boxes = LoggedBoxes.of(scan.boxes, settings.keepLiterals, facts.of(scan))
      if (boxes.nonEmpty) recorder.add(QueryShape.logged(scan.table, began, boxes))
    }
  }

  /** A query that failed says nothing about what people ask for. */
  override def onFailure(funcName: String, qe: QueryExecution, exception: Exception): Unit = ()

  def register(): Unit = {
    session.listenerManager.register(this)
    session.sparkContext.addSparkListener(atEnd)
  }

  /** Takes the events of queries that have ended, and writes the rest. */
  def finish(): Unit = {
    guarded(session.sparkContext.listenerBus.waitUntilEmpty(QueryLogListener.WaitMs))
    session.listenerManager.unregister(this)
    session.sparkContext.removeSparkListener(atEnd)
    recorder.flush()
  }

  private def guarded(body: => Unit): Unit =
    try body
    catch {
      case e @ (NonFatal(_) | _: LinkageError) =>
        if (!complained) logWarning(s"A query could not be logged in ${settings.path}; this is said once", e)
        complained = true
    }
}

private[workload] object QueryLogListener {
  private val WaitMs = 5000L
}

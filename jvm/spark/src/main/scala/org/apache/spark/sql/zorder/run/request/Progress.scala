package org.apache.spark.sql.zorder.run.request

import java.util.Locale

import scala.collection.mutable

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * What a run says while it works: one log line of JSON and one Spark job description per step, with the run id,
 * and lines for people on standard error where somebody is looking (`spark.zorder.progress.show`).
 */
final class Progress(session: ClassicSession, val runId: String, table: String) extends Logging {
  private val millis = mutable.LinkedHashMap.empty[String, Long]

  def stepMs: Map[String, Long] = millis.toMap

  /** Runs one step; `said` makes the sentence about its outcome. */
  def step[A](name: String)(body: => A)(said: A => String): A = {
    val context = session.sparkContext
    val before = Progress.JobProperties.map(p => p -> context.getLocalProperty(p))
    context.setJobGroup(runId, s"zorder $table: $name", interruptOnCancel = true)
    val start = System.nanoTime()
    try {
      val out = body
      val took = (System.nanoTime() - start) / 1000000
      millis(name) = millis.getOrElse(name, 0L) + took
      val outcome = said(out)
      logInfo(Progress.json(runId, table, name, took, outcome))
      show(String.format(Locale.ROOT, "%-8s %s (%.1f s)", name, outcome, Double.box(took / 1000.0)))
      out
    } finally before.foreach { case (key, value) => context.setLocalProperty(key, value) }
  }

  def say(line: String): Unit = {
    logInfo(s"[zorder $runId] $table: $line")
    show(line)
  }

  private def show(line: String): Unit = if (shown) System.err.println(s"zorder $runId  $line")

  private def shown: Boolean =
    SessionKeys.ShowProgress.orDefault(session.sessionState.conf) match {
      case "auto" => Terminal.sees
      case word => word == "true"
    }
}

object Progress {
  private val mapper = new ObjectMapper

  /** A finished step as one line of JSON, for collectors of logs. */
  private[run] def json(runId: String, table: String, step: String, ms: Long, outcome: String): String =
    mapper.writeValueAsString(
      mapper.createObjectNode().put("zorder", runId).put("table", table).put("step", step).put("ms", ms)
        .put("outcome", outcome))

  private val JobProperties = Seq("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
}

package org.apache.spark.sql.zorder.clustering.request

import java.nio.file.{Files, Paths}
import java.util.Locale

import scala.collection.mutable
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * Shows how far a run is: one log line of JSON and one Spark job description per step, with the run id,
 * and readable lines on standard error if that is a terminal (`spark.zorder.progress.show`).
 */
final class Progress(session: ClassicSession, val runId: String, table: String) extends Logging {
  private val millis = mutable.LinkedHashMap.empty[String, Long]

  def stepMs: Map[String, Long] = millis.toMap

  /** Runs one step; `summary` describes its result. */
  def step[A](name: String)(body: => A)(summary: A => String): A = {
    val context = session.sparkContext
    val before = Progress.JobProperties.map(p => p -> context.getLocalProperty(p))
    context.setJobGroup(runId, s"zorder $table: $name", interruptOnCancel = true)
    val start = System.nanoTime()
    try {
      val out = body
      val took = (System.nanoTime() - start) / 1000000
      millis(name) = millis.getOrElse(name, 0L) + took
      val outcome = summary(out)
      logInfo(Progress.json(runId, table, name, took, outcome))
      show(String.format(Locale.ROOT, "%-8s %s (%.1f s)", name, outcome, Double.box(took / 1000.0)))
      out
    } finally before.foreach { case (key, value) => context.setLocalProperty(key, value) }
  }

  def announce(line: String): Unit = {
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
  private[clustering] def json(
      runId: String,
      table: String,
      step: String,
      ms: Long,
      outcome: String): String =
    mapper.writeValueAsString(
      mapper.createObjectNode().put("zorder", runId).put("table", table).put("step", step).put("ms", ms)
        .put("outcome", outcome))

  private val JobProperties = Seq("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
}

/**
 * Whether the standard error of the driver is a terminal. `System.console` alone cannot answer this: pyspark starts its
 * JVM with a pipe as standard input, and then Java has no console.
 */
private[clustering] object Terminal {

  /** Looked up once: a process keeps its standard error. Without `/proc`, Python passes the answer in a setting. */
  lazy val sees: Boolean =
    Try(Files.readSymbolicLink(Paths.get("/proc/self/fd/2")).toString).toOption.map(isTerminal)
      .getOrElse(System.console() != null)

  /** Whether the file is a terminal, by its name under Linux. */
  private[clustering] def isTerminal(file: String): Boolean =
    file.startsWith("/dev/pts/") || file.matches("/dev/tty.+|/dev/console")
}

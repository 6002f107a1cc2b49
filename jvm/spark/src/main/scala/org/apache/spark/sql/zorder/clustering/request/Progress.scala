package org.apache.spark.sql.zorder.clustering.request

import java.nio.file.{Files, Paths}
import java.util.{Collections, Locale, UUID, WeakHashMap}

import scala.collection.mutable
import scala.util.Try

import com.fasterxml.jackson.databind.ObjectMapper

import org.apache.spark.Success
import org.apache.spark.internal.Logging
import org.apache.spark.scheduler.{SparkListener, SparkListenerJobStart, SparkListenerTaskEnd}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.storage.TaggedJobs

/**
 * Shows how far a run is: one log line of JSON and one Spark job description per step, with the run id,
 * and readable lines on standard error if that is a terminal (`spark.zorder.progress.show`).
 */
final class Progress(session: ClassicSession, val runId: String, table: String) extends Logging {
  private val millis = mutable.LinkedHashMap.empty[String, Long]
  Progress.forget(session)

  def stepMs: Map[String, Long] = millis.toMap

  /** Runs one step; `summary` describes its result. */
  def step[A](name: String)(body: => A)(summary: A => String): A = {
    val context = session.sparkContext
    val before = Progress.JobProperties.map(p => p -> context.getLocalProperty(p))
    describe(s"zorder $table: $name")
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

  /** A user who cancels a statement by their own job group also means the jobs of the run. */
  private def describe(text: String): Unit = {
    val context = session.sparkContext
    if (context.getLocalProperty("spark.jobGroup.id") == null)
      context.setJobGroup(runId, text, interruptOnCancel = true)
    else context.setJobDescription(text)
    context.addJobTag(runId)
  }

  /** Ends what is left of the run's jobs. */
  def cancelJobs(): Unit = TaggedJobs.end(session.sparkContext, runId)

  def announce(line: String): Unit = {
    logInfo(s"[zorder $runId] $table: $line")
    show(line)
  }

  /**
   * Like `step`, for a step that shuffles and writes these rows: says every ten seconds how many are done.
   */
  def stepOfRows[A](name: String, rows: Long)(body: => A)(summary: A => String): A = {
    val listener = new RowsDone(runId, rows, done => announce(s"$name: $done"))
    session.sparkContext.addSparkListener(listener)
    try step(name)(body)(summary)
    finally session.sparkContext.removeSparkListener(listener)
  }

  private def show(line: String): Unit = {
    Progress.keep(session, line)
    if (shown) System.err.println(s"zorder $runId  $line")
  }

  private def shown: Boolean =
    SessionKeys.ShowProgress.orDefault(session.sessionState.conf) match {
      case "auto" => Terminal.sees
      case word => word == "true"
    }
}

object Progress {
  private val mapper = new ObjectMapper

  /** The progress of a run, an audit or an advice that begins, with an id of its own. */
  def of(session: ClassicSession, table: ClusterTable): Progress =
    new Progress(session, UUID.randomUUID().toString.take(8), table.name)

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

  private val kept = Collections.synchronizedMap(new WeakHashMap[SparkSession, Vector[String]])

  /** The lines so far of the latest run of a session. */
  private[zorder] def lines(session: SparkSession): Array[String] =
    kept.getOrDefault(session, Vector.empty).toArray

  /** The lines of the run before are not those of the next one. */
  private[zorder] def forget(session: SparkSession): Unit = { kept.remove(session); () }

  // the run and a listener of its tasks say lines
  private def keep(session: SparkSession, line: String): Unit = {
    kept.merge(session, Vector(line), (before: Vector[String], one: Vector[String]) => before ++ one)
    ()
  }

  private val TagsProperty = "spark.job.tags"

  private val JobProperties =
    Seq("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel", TagsProperty)

  /** Whether a job is one of the run. */
  private[clustering] def isOf(runId: String, job: SparkListenerJobStart): Boolean =
    Option(job.properties).flatMap(p => Option(p.getProperty(TagsProperty)))
      .exists(_.split(',').contains(runId))
}

/**
 * Counts the rows that the tasks of a run have sent to the tasks that write, and those that these have
 * written.
 *
 * @param say
 *   gets a text at most so often
 */
final private[clustering] class RowsDone(
    runId: String,
    rows: Long,
    say: String => Unit,
    everyNanos: Long = RowsDone.TenSeconds)
    extends SparkListener {
  private val stages = mutable.Set.empty[Int]
  private var shuffled, written = 0L
  private val start = System.nanoTime()
  private var said = start

  // a listener is called by one thread
  override def onJobStart(job: SparkListenerJobStart): Unit =
    if (Progress.isOf(runId, job)) stages ++= job.stageIds

  override def onTaskEnd(task: SparkListenerTaskEnd): Unit =
    if (stages(task.stageId) && task.reason == Success && task.taskMetrics != null) {
      shuffled += task.taskMetrics.shuffleWriteMetrics.recordsWritten
      written += task.taskMetrics.outputMetrics.recordsWritten
      val now = System.nanoTime()
      if (now - said >= everyNanos) {
        said = now
        say(RowsDone.text(shuffled, written, rows, (now - start) / 1000000000L))
      }
    }
}

private[clustering] object RowsDone {
  private val TenSeconds = 10L * 1000 * 1000 * 1000

  /** The rows of both halves of the work, beside all. */
  def text(shuffled: Long, written: Long, rows: Long, seconds: Long): String =
    String.format(
      Locale.ROOT,
      "%,d of %,d rows shuffled, %,d written (%d s)",
      Long.box(shuffled),
      Long.box(rows),
      Long.box(written),
      Long.box(seconds))
}

/**
 * Whether the standard error of the driver is a terminal. `System.console` alone cannot answer this: pyspark
 * starts its JVM with a pipe as standard input, and then Java has no console.
 */
private[clustering] object Terminal {

  /**
   * Looked up once: a process keeps its standard error. Without `/proc`, Python passes the answer in a
   * setting.
   */
  lazy val sees: Boolean =
    Try(Files.readSymbolicLink(Paths.get("/proc/self/fd/2")).toString).toOption.map(isTerminal)
      .getOrElse(System.console() != null)

  /** Whether the file is a terminal, by its name under Linux. */
  private[clustering] def isTerminal(file: String): Boolean =
    file.startsWith("/dev/pts/") || file.matches("/dev/tty.+|/dev/console")
}

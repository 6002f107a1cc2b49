package org.apache.spark.sql.zorder.run.report

import java.util.concurrent.atomic.AtomicReference

import com.codahale.metrics.{Gauge, MetricRegistry}

import org.apache.spark.SparkEnv
import org.apache.spark.metrics.source.Source

/**
 * Runs as a source of Spark's metrics system, `<application>.driver.zorder.*`: counters over the runs of this
 * driver (`runs.DONE`, `runs.NO_GAIN`, ..., `bytesRead`, `bytesWritten`, `filesAdded`, `filesRemoved`), and of the
 * newest run that wrote something the mean share of files that a look-up reads (`shareRead`) and how near that
 * is to the bound (`efficiency`, 1 at best).
 */
private[run] object RunSource extends Source {
  override val sourceName: String = "zorder"
  override val metricRegistry: MetricRegistry = new MetricRegistry

  private val shareRead = gauge("shareRead")
  private val efficiency = gauge("efficiency")
  private val registeredIn = new AtomicReference[SparkEnv]

  /** Counts a run that has ended, however many batches it had. */
  def ended(status: RunStatus): Unit = {
    register()
    count(s"runs.${status.name}", 1)
  }

  /** Counts what a batch has committed: it stays written though a later batch of the run may fail. */
  def wrote(report: RunReport): Unit =
    if (report.status == RunStatus.Done) {
      register()
      count("bytesRead", report.metrics.inputBytes)
      count("bytesWritten", report.metrics.added.map(_.length).sum)
      count("filesAdded", report.metrics.added.length.toLong)
      count("filesRemoved", report.metrics.removed.length.toLong)
      val files = report.reads.toSeq.flatMap(_.columns.map(_.files))
      val measured = files.flatMap(_.measured)
      if (measured.nonEmpty) {
        shareRead.set(measured.sum / measured.length)
        val bounds = files.flatMap(_.bound)
        // a table whose columns depend on each other has no bound
        if (bounds.nonEmpty) efficiency.set(bounds.sum / math.max(1e-9, measured.sum))
      }
    }

  /** Once in each application of this JVM. */
  private def register(): Unit = {
    val env = SparkEnv.get
    if (env != null && registeredIn.getAndSet(env) != env) env.metricsSystem.registerSource(this)
  }

  private def count(name: String, n: Long): Unit = metricRegistry.counter(name).inc(n)

  private def gauge(name: String): AtomicReference[Double] = {
    val value = new AtomicReference[Double](0.0)
    metricRegistry.register(name, new Gauge[Double] { override def getValue: Double = value.get })
    value
  }
}

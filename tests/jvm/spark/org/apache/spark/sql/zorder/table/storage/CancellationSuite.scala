package org.apache.spark.sql.zorder.table.storage

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.SparkException
import org.apache.spark.scheduler.{SparkListener, SparkListenerTaskStart}
import org.apache.spark.sql.zorder.ZOrderSession

/** A job that somebody cancels is known by what Spark says of it. */
class CancellationSuite extends AnyFunSuite with ZOrderSession {

  test("a job that is cancelled by its group is no failure of the job") {
    val context = spark.sparkContext
    val killer = new SparkListener {
      override def onTaskStart(task: SparkListenerTaskStart): Unit = context.cancelJobGroup("to be cancelled")
    }
    context.addSparkListener(killer)
    context.setJobGroup("to be cancelled", "cancelled", interruptOnCancel = true)
    val cancelled =
      try intercept[SparkException](context.parallelize(Seq(1), 1).foreach(_ => Thread.sleep(20000)))
      finally {
        context.clearJobGroup()
        context.removeSparkListener(killer)
      }
    assert(Cancellation.ofJob(cancelled) && Cancellation.ofJob(new RuntimeException(cancelled)))
    val failed = intercept[SparkException](
      context.parallelize(Seq(1), 1).foreach(_ => throw new IllegalStateException("Job 1 cancelled")))
    assert(!Cancellation.ofJob(failed))
  }
}

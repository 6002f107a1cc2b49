package org.apache.spark.sql.zorder.table

import scala.collection.mutable.ArrayBuffer

import org.apache.spark.scheduler.{SparkListener, SparkListenerJobEnd, SparkListenerJobStart}
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * How long a run takes from a commit that is refused to the next one, step by step, with its Spark jobs.
 *
 * @param commit
 *   the place before a commit
 * @param other
 *   what others do there, five times in a run: the first number is 1
 */
private[zorder] class RoundTimes(spark: SparkSession, commit: String, other: Int => Any) {
  private val seen = ArrayBuffer.empty[(String, Long)]

  def of[A](run: => A): A = {
    var round = 0
    CrashPoint.meanwhile = (at: String) => {
      see(at)
      if (at == commit && round < RoundTimes.Rounds) {
        round += 1
        other(round)
        see(RoundTimes.Begins)
      }
    }
    val jobs = new SparkListener {
      override def onJobStart(job: SparkListenerJobStart): Unit = see("(", job.time)
      override def onJobEnd(job: SparkListenerJobEnd): Unit = see(")", job.time)
    }
    spark.sparkContext.addSparkListener(jobs)
    try run
    finally {
      CrashPoint.meanwhile = (_: String) => ()
      spark.sparkContext.removeSparkListener(jobs)
    }
  }

  private def see(what: String, at: Long = System.currentTimeMillis): Unit = synchronized {
    seen += what -> at
    ()
  }

  /** A line for each round: milliseconds since the refused commit began; jobs are in parentheses. */
  def rounds: Seq[String] = synchronized {
    val sorted = seen.toSeq.sortBy(_._2)
    sorted.indices.filter(sorted(_)._1 == RoundTimes.Begins).map { i =>
      val steps = sorted.drop(i + 1)
      val (before, after) = steps.span(_._1 != commit)
      (before ++ after.take(1)).map { case (what, at) => s"$what ${at - sorted(i)._2}" }.mkString(" ")
    }
  }
}

private object RoundTimes {
  val Rounds = 5
  val Begins = "refused"
}

package org.apache.spark.sql.zorder.clustering

import scala.collection.mutable

import org.scalatest.Assertions._

import org.apache.spark.scheduler._
import org.apache.spark.sql.SparkSession

/** What Spark did while `body` ran: jobs by description, and those whose tasks read rows of a table. */
final class JobWatch extends SparkListener {
  private val jobOfStage = mutable.HashMap.empty[Int, Int]
  private val description = mutable.LinkedHashMap.empty[Int, String]
  private var shuffled = 0L
  private val reading = mutable.HashMap.empty[Int, Long]
  private val readers = mutable.HashMap.empty[Int, Int]

  override def onJobStart(job: SparkListenerJobStart): Unit = synchronized {
    description(job.jobId) =
      Option(job.properties).flatMap(p => Option(p.getProperty("spark.job.description"))).getOrElse("")
    job.stageIds.foreach(s => jobOfStage.getOrElseUpdate(s, job.jobId))
  }

  override def onTaskEnd(task: SparkListenerTaskEnd): Unit = synchronized {
    val rows = Option(task.taskMetrics).map(_.inputMetrics.recordsRead).getOrElse(0L)
    shuffled += Option(task.taskMetrics).map(_.shuffleWriteMetrics.bytesWritten).getOrElse(0L)
    if (rows > 0) readers(task.stageId) = readers.getOrElse(task.stageId, 0) + 1
    if (rows > 0) jobOfStage.get(task.stageId).foreach(j => reading(j) = reading.getOrElse(j, 0L) + rows)
  }

  def jobs: Seq[String] = synchronized(description.values.toSeq)

  /** Fails with the names of all jobs if these were more. */
  def startedAtMost(n: Int): Unit = {
    assert(jobs.length <= n, jobs.mkString("\n", "\n", ""))
    ()
  }

  /** What the jobs over footers say of themselves: `footers of 20 files`. */
  def ofFooters: Seq[String] = {
    val job = "spark-zorder: ((?:footers|page indexes|verification).*)".r
    jobs.collect { case job(what) => what }
  }

  /** Bytes of shuffle files. */
  def shuffleBytes: Long = synchronized(shuffled)

  /** Tasks that read rows of a table, by stage. */
  def readingTasks: Map[Int, Int] = synchronized(readers.toMap)

  /** Rows read by each job that reads column data, with the job's description. */
  def reads: Seq[(String, Long)] = synchronized {
    description.toSeq.collect { case (id, text) if reading.contains(id) => (text, reading(id)) }
  }
}

object JobWatch {
  def apply[T](spark: SparkSession)(body: => T): (T, JobWatch) = {
    val context = spark.sparkContext
    context.listenerBus.waitUntilEmpty()
    val watch = new JobWatch
    context.addSparkListener(watch)
    try {
      val out = body
      context.listenerBus.waitUntilEmpty()
      (out, watch)
    } finally context.removeSparkListener(watch)
  }
}

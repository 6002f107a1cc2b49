package org.apache.spark.sql.zorder.table.storage

import scala.util.control.NonFatal

import org.apache.spark.SparkContext

/** The jobs of a statement, which bear a tag. */
private[zorder] object TaggedJobs {

  /** How long a statement that failed waits for its tasks. */
  private val TasksNanos = 60L * 1000 * 1000 * 1000

  private val PollMs = 50L

  /**
   * Ends what is left of them, since a thread that is interrupted leaves its job running, and waits for their
   * tasks: one that is killed still closes its file, which on an object store is there only then.
   */
  def end(context: SparkContext, tag: String): Unit = {
    val status = context.statusTracker
    def isBusy: Boolean = status.getJobIdsForTag(tag).flatMap(status.getJobInfo(_)).flatMap(_.stageIds)
      .flatMap(status.getStageInfo(_)).exists(_.numActiveTasks > 0)
    try {
      context.cancelJobsWithTag(tag)
      val began = System.nanoTime()
      while (isBusy && System.nanoTime() - began < TasksNanos) Thread.sleep(PollMs)
    } catch {
      case _: InterruptedException => Thread.currentThread().interrupt()
      case NonFatal(_) if context.isStopped => ()
    }
  }
}

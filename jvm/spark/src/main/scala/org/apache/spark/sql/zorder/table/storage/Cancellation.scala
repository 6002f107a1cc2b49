package org.apache.spark.sql.zorder.table.storage

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.spark.SparkException

/** A statement that its user cancels: Spark interrupts its thread. A commit that has begun is settled all the same. */
private[zorder] object Cancellation {

  /** An error after which the commit can be settled. `NonFatal` leaves out a thread's interruption. */
  object OrNonFatal {
    def unapply(e: Throwable): Option[Throwable] = e match {
      case NonFatal(_) | _: InterruptedException => Some(e)
      case _ => None
    }
  }

  /** What Spark says of such a job; with a condition from 4.0 on. */
  private val JobCancelled = "(\\[SPARK_JOB_CANCELLED\\] )?Job \\d+ cancelled.*".r.pattern

  /** Whether somebody has cancelled a job: whoever waits for it must end, and not go on without it. */
  def ofJob(e: Throwable): Boolean = ExceptionUtils.getThrowables(e).exists {
    case job: SparkException => Option(job.getMessage).exists(JobCancelled.matcher(_).lookingAt())
    case _ => false
  }

  /**
   * Does what a cancellation must not stop. The thread is interrupted again afterwards, for whoever looks next.
   *
   * @param e
   *   what came before
   */
  def deferred[A](e: Throwable)(body: => A): A = {
    val cancelled = Thread.interrupted() || e.isInstanceOf[InterruptedException]
    try body
    finally if (cancelled) Thread.currentThread.interrupt()
  }

  /** Tried once more: a storage may fail for a moment, and a thread that is interrupted writes nothing. */
  def repeated[A](write: => A): A =
    try write
    catch {
      case crash: CrashPoint.Crash => throw crash
      case OrNonFatal(e) => deferred(e)(write)
    }
}

package org.apache.spark.sql.zorder.clustering.inspect

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils

import org.apache.spark.SparkException
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.storage.StorageFailure

/**
 * A file that is no Parquet file is a common mistake: it gets a sentence, not a stack of causes. So does a task
 * that failed as often as Spark let it.
 */
private[zorder] object UnreadableFiles {
  private val NotParquet = "(?s).*?(\\S+) is not a Parquet file.*".r

  def explained[A](table: String)(body: => A): A =
    try body
    catch {
      case e: ZOrderException => throw e
      case NonFatal(e) =>
        causes(e).flatMap(c => Option(c.getMessage)).foreach {
          case NotParquet(file) =>
            refuse(
              s"$table holds a file that is not Parquet, $file: give the directory of a Parquet table, " +
                "or move the file out of it.")
          case _ =>
        }
        throw ofTask(table, e).orElse(ofStorage(table, e)).getOrElse(e)
    }

  private def ofTask(table: String, e: Throwable): Option[ZOrderException] =
    Some(e).collect { case job: SparkException if job.getCause != null => causes(job).head }.map { cause =>
      ZOrderException.over(
        e,
        s"A task of the run on $table failed: ${ZOrderException.firstLine(cause)}.")
    }

  /** A file system that stopped the driver itself: of a full disk, what to do. */
  private def ofStorage(table: String, e: Throwable): Option[ZOrderException] =
    causes(e).collectFirst { case StorageFailure(message) =>
      val remedy =
        if (StorageFailure.isFull(message)) "free some space, and run it again"
        else "run it again when the storage works"
      ZOrderException.over(
        e,
        s"The run on $table was stopped by a storage failure ($message): what it had not committed was removed; $remedy.")
    }

  /** The first cause first. */
  private def causes(e: Throwable): Seq[Throwable] =
    ExceptionUtils.getThrowables(e).toSeq.reverse
}

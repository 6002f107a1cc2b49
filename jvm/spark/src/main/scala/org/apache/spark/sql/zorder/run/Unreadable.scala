package org.apache.spark.sql.zorder.run

import scala.util.control.NonFatal

import org.apache.spark.SparkException
import org.apache.spark.sql.zorder.ZOrderException
import org.apache.spark.sql.zorder.ZOrderException.refuse

/**
 * A file that is no Parquet file is a common mistake: it gets a sentence, not a stack of causes. So does a task
 * that failed as often as Spark let it.
 */
private[zorder] object Unreadable {
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
        throw ofTask(table, e).getOrElse(e)
    }

  private def ofTask(table: String, e: Throwable): Option[ZOrderException] =
    Some(e).collect { case job: SparkException if job.getCause != null => causes(job).head }.map { cause =>
      ZOrderException.over(
        e,
        s"A task of the run on $table failed: ${ZOrderException.firstLine(cause)}.")
    }

  private def causes(e: Throwable): Seq[Throwable] =
    Iterator.iterate(e)(_.getCause).takeWhile(_ != null).take(20).toSeq.reverse
}

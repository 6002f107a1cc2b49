package org.apache.spark.sql.zorder.clustering.inspect

import java.io.{FileNotFoundException, IOException}
import java.nio.file.AccessDeniedException

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.SparkException
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.{firstLine, over}
import org.apache.spark.sql.zorder.stats.NotParquet
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.storage.StorageFailure

/**
 * A file that is no Parquet file is a common mistake: it gets a sentence, not a stack of causes. So does a
 * task that failed as often as Spark let it.
 */
private[zorder] object UnreadableFiles {

  /** Spark and Parquet name the file that they read when it failed, each in its own words. */
  private val File =
    "(?:reading file|converted in file|in block -?\\d+ in file|footer for file:) (\\S+?)\\.?(?=\\s|$)".r

  def explained[A](table: String)(body: => A): A =
    try body
    catch {
      case e: ZOrderException => throw e
      case NonFatal(e) => throw reason(table, e).getOrElse(e)
    }

  /** Reads a table, and closes it. */
  def reading[A](table: ClusterTable)(body: => A): A =
    try explained(table.name)(body)
    finally table.close()

  /** Whether a read failed before anything of the file was read: it says nothing about what is in the file. */
  def isNotOpened(e: Throwable): Boolean = ExceptionUtils.getThrowables(e).exists {
    case _: FileNotFoundException => true
    case other => isDenied(other)
  }

  private def reason(table: String, e: Throwable): Option[ZOrderException] = {
    // the first cause first
    val causes = ExceptionUtils.getThrowables(e).toSeq.reverse
    val messages = causes.flatMap(c => Option(c.getMessage))
    lazy val notParquet = NotParquet.unapply(e).map(file =>
      over(e, "ZORDER_FILE_UNREADABLE.NOT_PARQUET", "table" -> table, "file" -> file))
    lazy val damaged = messages.flatMap(File.findFirstMatchIn(_)).headOption.map(found =>
      over(
        e,
        "ZORDER_FILE_UNREADABLE.NOT_READ",
        "file" -> found.group(1),
        "table" -> table,
        "cause" -> named(causes.head)))
    ours(causes).orElse(notParquet).orElse(ofStorage(table, e, causes)).orElse(damaged)
      .orElse(ofTask(table, e, causes)).orElse(stopped(table, e, causes))
  }

  /** The refusal of a task that has read a footer. */
  private def ours(causes: Seq[Throwable]): Option[ZOrderException] =
    causes.collectFirst { case ours: ZOrderException => ours }

  /** What the storage says clearly, to the driver or to a task. */
  private def ofStorage(table: String, e: Throwable, causes: Seq[Throwable]): Option[ZOrderException] = {
    val parameters = Seq("table" -> table, "cause" -> firstLine(causes.head))
    causes.collectFirst {
      case StorageFailure(said) if StorageFailure.isFull(said) =>
        over(e, "ZORDER_NO_SPACE.RUN", parameters: _*)
      case denied if isDenied(denied) => over(e, "ZORDER_NO_PERMISSION.RUN", parameters: _*)
      // before the file that was to be opened is called damaged
      case open: IOException if isOutOfHandles(open) =>
        over(e, "ZORDER_STORAGE_FAILED.RUN", parameters: _*)
      case missing: FileNotFoundException if !isShuffleFile(missing) =>
        val gone = new ZOrderConflictException("ZORDER_CONFLICT.FILE_GONE", parameters: _*)
        gone.addSuppressed(e)
        gone
    }
  }

  /** Whether the process, or its host, may open no more files. */
  private def isOutOfHandles(e: IOException): Boolean =
    Option(e.getMessage).exists(_.contains("Too many open files"))

  /** Spark's own, which a lost executor or disk has taken along. */
  private def isShuffleFile(e: FileNotFoundException): Boolean =
    Option(e.getMessage).exists(_.contains("/blockmgr-"))

  private def isDenied(e: Throwable): Boolean = e match {
    case _: AccessControlException | _: AccessDeniedException => true
    // of a local disk
    case _: FileNotFoundException => Option(e.getMessage).exists(_.contains("(Permission denied)"))
    case _ => false
  }

  private def ofTask(table: String, e: Throwable, causes: Seq[Throwable]): Option[ZOrderException] =
    Some(e).collect {
      case job: SparkException if job.getCause != null =>
        over(e, "ZORDER_TASK_FAILED", "table" -> table, "cause" -> named(causes.head))
    }

  /** A file system that stopped the driver itself. */
  private def stopped(table: String, e: Throwable, causes: Seq[Throwable]): Option[ZOrderException] =
    causes.collectFirst { case StorageFailure(said) =>
      over(e, "ZORDER_STORAGE_FAILED.RUN", "table" -> table, "cause" -> said)
    }

  /** The error with its class where its message means little without it, such as "Index 5 out of bounds". */
  private def named(e: Throwable): String = {
    val (kind, said) = (e.getClass.getSimpleName, firstLine(e))
    if (e.getMessage == null || !e.getClass.getName.startsWith("java.lang.")) said else s"$kind: $said"
  }
}

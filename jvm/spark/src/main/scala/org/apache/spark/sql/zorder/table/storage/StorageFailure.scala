package org.apache.spark.sql.zorder.table.storage

import java.io.IOException
import java.util.Locale

import org.apache.hadoop.fs.FSError

import org.apache.spark.sql.zorder.errors.ZOrderException

/** Why a file system cannot go on. Hadoop's local one throws an Error where others throw an exception. */
private[zorder] object StorageFailure {
  private val Full = Seq("no space left", "quota", "not enough space")

  /** The first line of the message. */
  def unapply(e: Throwable): Option[String] = e match {
    case wrapped: FSError if wrapped.getCause != null => Some(ZOrderException.firstLine(wrapped.getCause))
    case _: IOException | _: FSError => Some(ZOrderException.firstLine(e))
    case _ => None
  }

  /** Whether the disk or the quota is full. */
  def isFull(said: String): Boolean = {
    val lower = said.toLowerCase(Locale.ROOT)
    Full.exists(lower.contains)
  }

  /** Turns the Error into an exception. */
  def thrown[A](body: => A): A =
    try body
    catch { case e: FSError => throw new IOException(unapply(e).getOrElse(""), e) }
}

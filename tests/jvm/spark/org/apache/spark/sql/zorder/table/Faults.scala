package org.apache.spark.sql.zorder.table

import java.io.IOException
import java.util.concurrent.atomic.{AtomicInteger, AtomicLong}

import org.apache.hadoop.fs.{FSError, Path}

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** What [[FaultyFileSystem]] lets fail, one fault at a time in a JVM. */
object Faults {

  /** A session reads and writes `file:` paths through the faulty file system while it has these settings. */
  val settings: Seq[(String, String)] =
    Seq("fs.file.impl" -> classOf[FaultyFileSystem].getName, "fs.file.impl.disable.cache" -> "true")

  /** For a session of that kind whose tasks are tried four times. */
  def builder(): SparkSession.Builder =
    settings.foldLeft(ZOrderSession.builder().master("local[2,4]")) { case (b, (key, value)) =>
      b.config(key, value)
    }

  sealed trait Fault

  /**
   * The n-th rename, from 1: false, or an exception.
   *
   * @param unread
   *   whether no journal can be read from then on; with n = 0 from the start
   */
  final case class Rename(n: Int, throws: Boolean, unread: Boolean = false) extends Fault

  /** The n-th delete throws. */
  final case class Delete(n: Int) extends Fault

  /**
   * There is room for so many bytes more in files whose path has a match of `within`; after so many failures there is
   * room again.
   *
   * @param local
   *   whether it is said as Hadoop's local file system says it, by an Error
   */
  final case class FullDisk(bytes: Long, within: String, times: Int = Int.MaxValue, local: Boolean = false)
      extends Fault

  @volatile private var fault: Option[Fault] = None
  private val calls = new AtomicInteger
  private val left = new AtomicLong
  @volatile private var struck = false

  /** Whether the fault struck in `body`. */
  def during(wanted: Fault)(body: => Unit): Boolean = {
    calls.set(0)
    struck = false
    wanted match {
      case FullDisk(bytes, _, _, _) => left.set(bytes)
      case _ =>
    }
    fault = Some(wanted)
    CrashPoint.renames = renames
    try body
    finally {
      fault = None
      CrashPoint.renames = (_, _) => true
    }
    struck
  }

  /** False when the rename shall say so. */
  private[table] def renames(from: Path, to: Path): Boolean = fault match {
    case Some(Rename(n, throws, _)) =>
      val hit = calls.incrementAndGet() == n
      if (hit) struck = true
      if (hit && throws) throw new IOException(s"Injected: no rename of $from to $to")
      !hit
    case _ => true
  }

  private[table] def reads(path: Path): Unit = fault match {
    case Some(Rename(n, _, true)) if calls.get >= n && path.getName.matches("\\..*\\.zorder-\\w*\\.json") =>
      struck = true
      throw new IOException(s"Injected: no answer of $path")
    case _ =>
  }

  private[table] def deletes(path: Path): Unit = fault match {
    case Some(Delete(n)) if calls.incrementAndGet() == n =>
      struck = true
      throw new IOException(s"Injected: no delete of $path")
    case _ =>
  }

  private[table] def writes(path: Path, bytes: Int): Unit = fault match {
    case Some(FullDisk(_, within, times, local))
        if within.r.findFirstIn(path.toString).isDefined && left.addAndGet(-bytes.toLong) < 0 &&
          calls.getAndIncrement() < times =>
      struck = true
      val full = new IOException("No space left on device")
      throw (if (local) error(full) else full)
    case _ =>
  }

  private def error(cause: IOException): FSError = {
    val made = classOf[FSError].getDeclaredConstructor(classOf[Throwable])
    made.setAccessible(true)
    made.newInstance(cause)
  }
}

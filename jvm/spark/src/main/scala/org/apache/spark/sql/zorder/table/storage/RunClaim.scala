package org.apache.spark.sql.zorder.table.storage

import java.io.IOException
import java.lang.management.ManagementFactory
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{Files, Paths}
import java.util.concurrent.TimeUnit.SECONDS

import scala.util.Try
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.util.ThreadUtils

/** The file of a claim. */
private[zorder] trait ClaimFile {
  def exists: Boolean

  /** When it was written for the last time. */
  def modified: Long

  /** None if it does not exist or cannot be read. */
  def read: Option[String]

  /** Writes the file, in place of an earlier one. */
  def write(text: String): Unit

  /** Writes the file unless it exists; false if it does. */
  def claim(text: String): Boolean

  def delete(): Unit
}

private[zorder] object ClaimFile {

  /** `.<name>.claim-zorder` beside a directory; None for a root, which has nothing beside it. */
  def beside(fs: FileSystem, root: Path): Option[ClaimFile] = Option(root.getParent).map { parent =>
    val path = new Path(parent, s".${root.getName}.claim-zorder")
    new ClaimFile {
      override def exists: Boolean = fs.exists(path)
      override def modified: Long = fs.getFileStatus(path).getModificationTime
      override def read: Option[String] = TextFiles.read(fs, path)
      override def write(text: String): Unit = TextFiles.replace(fs, path, text)
      override def claim(text: String): Boolean = TextFiles.claim(fs, path, text)
      override def delete(): Unit = TextFiles.delete(fs, path)
    }
  }
}

/**
 * A small file beside a table, `.<name>.claim-zorder`, which says that a run is at work on the table. The run writes
 * it again every few seconds. Of a table it forbids nothing, as commits are safe without it; it lets a second scheduler
 * notice in time that the work is already being done. A copy on an object store is refused beside another one.
 */
final class RunClaim private (file: ClaimFile, runId: String) extends AutoCloseable {
  private val beat = ThreadUtils.newDaemonSingleThreadScheduledExecutor("zorder-claim")
  beat.scheduleWithFixedDelay(
    () => RunClaim.quietly(file.write(RunClaim.text(runId))),
    RunClaim.BeatSeconds,
    RunClaim.BeatSeconds,
    SECONDS)

  override def close(): Unit = {
    beat.shutdownNow()
    // an interrupt stays one, and leaves no claim behind
    val interrupted =
      try {
        beat.awaitTermination(RunClaim.BeatSeconds, SECONDS)
        Thread.interrupted()
      } catch { case _: InterruptedException => true }
    RunClaim.quietly(if (RunClaim.runOf(file).contains(runId)) file.delete())
    if (interrupted) Thread.currentThread().interrupt()
  }
}

object RunClaim {
  private val BeatSeconds = 15L

  /** A claim that was not renewed for so long belongs to a dead run. */
  private val StaleMs = 60000L

  /**
   * Claims a table by this file. If it cannot be written, there is no claim, which does no harm.
   *
   * @param skipIfRunning
   *   whether to give up if another run has claimed it
   * @throws org.apache.spark.sql.zorder.errors.ZOrderConflictException
   *   then
   */
  private[zorder] def take(
      file: ClaimFile,
      name: String,
      runId: String,
      skipIfRunning: Boolean): Option[RunClaim] = {
    if (skipIfRunning) holder(file).foreach { other =>
      throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_RUN", "run" -> other, "table" -> name)
    }
    try {
      val taken =
        if (skipIfRunning && !exists(file)) file.claim(text(runId))
        else {
          file.write(text(runId))
          true
        }
      if (taken) Some(new RunClaim(file, runId)) else take(file, name, runId, skipIfRunning)
    } catch { case _: IOException => None }
  }

  /** The live run that has claimed a table by one of these files. */
  private[zorder] def holder(files: Seq[ClaimFile]): Option[String] = files.flatMap(holder(_)).headOption

  /** Deletes the claims of dead runs. */
  private[zorder] def clear(files: Seq[ClaimFile]): Unit =
    files.foreach(file => quietly(if (holder(file).isEmpty) file.delete()))

  private def text(runId: String): String = s"$runId\n${LocalProcesses.own}"

  private def lines(file: ClaimFile): Seq[String] = file.read.toSeq.flatMap(_.split('\n'))

  private def runOf(file: ClaimFile): Option[String] = lines(file).headOption

  /** The live run that has claimed it. */
  private def holder(file: ClaimFile): Option[String] =
    try {
      if (!file.exists || System.currentTimeMillis - file.modified > StaleMs) None
      else {
        val said = lines(file)
        said.headOption.filterNot(_ => said.drop(1).exists(LocalProcesses.isDead))
      }
    } catch { case _: IOException => None } // its run has just ended

  private def exists(file: ClaimFile): Boolean =
    try file.exists
    catch { case _: IOException => false }

  private def quietly(body: => Any): Unit =
    try {
      body
      ()
    } catch { case NonFatal(_) => () }
}

/** Whether the JVM that has written something still runs, as far as this machine can tell. */
private[table] object LocalProcesses {
  private val proc = Paths.get("/proc")

  /**
   * This JVM: its process, its host, its PID namespace (that of a container), and the start of its machine. Two machines
   * may have one host name, and the first namespace has the same number on all.
   */
  lazy val own: String = s"${ManagementFactory.getRuntimeMXBean.getName}@$numbering@$start"

  private def numbering: String =
    Try(Files.readSymbolicLink(proc.resolve("self/ns/pid")).toString).getOrElse("")

  private def start: String =
    Try(new String(Files.readAllBytes(proc.resolve("sys/kernel/random/boot_id")), ISO_8859_1).trim)
      .getOrElse("")

  /** Certainly dead: it ran in the same PID namespace as this JVM does, and no process has that number now. */
  def isDead(owner: String): Boolean = {
    def place(text: String) = text.dropWhile(_ != '@')
    Files.exists(proc.resolve("self/ns/pid")) && owner.contains('@') && place(owner) == place(own) &&
    Try(owner.takeWhile(_ != '@').toLong).toOption.exists(hasEnded)
  }

  /** A dead process keeps its number until its parent asks how it ended, which may be seconds later, or never. */
  private def hasEnded(pid: Long): Boolean = {
    val entry = proc.resolve(pid.toString)
    // "42 (java) Z 1 ...", and a name may have brackets and spaces too
    def state = Try(new String(Files.readAllBytes(entry.resolve("stat")), ISO_8859_1)).toOption
      .flatMap(text => text.drop(text.lastIndexOf(')') + 1).trim.headOption)
    !Files.exists(entry) || state.contains('Z')
  }
}

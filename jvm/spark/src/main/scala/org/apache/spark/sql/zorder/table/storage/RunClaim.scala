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

/**
 * A small file beside a table, `.<name>.claim-zorder`, which says that a run is at work on the table. The run writes
 * it again every few seconds. It forbids nothing, as commits are safe without it. It lets a second scheduler notice
 * in time that the work is already being done.
 */
final class RunClaim private (fs: FileSystem, path: Path, runId: String) extends AutoCloseable {
  private val beat = ThreadUtils.newDaemonSingleThreadScheduledExecutor("zorder-claim")
  beat.scheduleWithFixedDelay(
    () => RunClaim.quietly(write()),
    RunClaim.BeatSeconds,
    RunClaim.BeatSeconds,
    SECONDS)

  private def write(): Unit = TextFiles.replace(fs, path, RunClaim.text(runId))

  override def close(): Unit = {
    beat.shutdownNow()
    beat.awaitTermination(RunClaim.BeatSeconds, SECONDS)
    RunClaim.quietly(if (RunClaim.runOf(fs, path).contains(runId)) fs.delete(path, false))
  }
}

object RunClaim {
  private val BeatSeconds = 15L

  /** A claim that was not renewed for so long belongs to a dead run. */
  private val StaleMs = 60000L

  /**
   * Claims the table at `root`. If nothing can be written beside it, there is no claim, which does no harm.
   *
   * @param skipIfRunning
   *   whether to give up if another run has claimed it
   * @throws org.apache.spark.sql.zorder.errors.ZOrderConflictException
   *   then
   */
  def take(
      fs: FileSystem,
      root: Path,
      name: String,
      runId: String,
      skipIfRunning: Boolean): Option[RunClaim] =
    beside(root).flatMap { path =>
      if (skipIfRunning) holder(fs, path).foreach { other =>
        throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_RUN", "run" -> other, "table" -> name)
      }
      try {
        val taken =
          if (skipIfRunning && !exists(fs, path)) TextFiles.claim(fs, path, text(runId))
          else {
            TextFiles.replace(fs, path, text(runId))
            true
          }
        if (taken) Some(new RunClaim(fs, path, runId)) else take(fs, root, name, runId, skipIfRunning)
      } catch { case _: IOException => None }
    }

  /** Deletes the claims of dead runs, beside the table and where it was before. */
  def clear(fs: FileSystem, roots: Seq[Path]): Unit =
    roots.distinct.flatMap(beside).foreach { path =>
      quietly(if (holder(fs, path).isEmpty) fs.delete(path, false))
    }

  private def beside(root: Path): Option[Path] =
    Option(root.getParent).map(new Path(_, s".${root.getName}.claim-zorder"))

  private def text(runId: String): String = s"$runId\n${LocalProcesses.own}"

  private def lines(fs: FileSystem, path: Path): Seq[String] =
    TextFiles.read(fs, path).toSeq.flatMap(_.split('\n'))

  private def runOf(fs: FileSystem, path: Path): Option[String] = lines(fs, path).headOption

  /** The live run that has claimed it. */
  private def holder(fs: FileSystem, path: Path): Option[String] =
    if (!exists(fs, path) || System.currentTimeMillis - fs.getFileStatus(path).getModificationTime > StaleMs)
      None
    else {
      val said = lines(fs, path)
      said.headOption.filterNot(_ => said.drop(1).exists(LocalProcesses.isDead))
    }

  private def exists(fs: FileSystem, path: Path): Boolean =
    try fs.exists(path)
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

  /** This JVM: its process, its host, and its PID namespace (that of a container). */
  lazy val own: String = s"${ManagementFactory.getRuntimeMXBean.getName}@$numbering"

  private def numbering: String =
    Try(Files.readSymbolicLink(proc.resolve("self/ns/pid")).toString).getOrElse("")

  /** Certainly dead: it had the same PID namespace as this JVM, and no process that runs has that number now. */
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

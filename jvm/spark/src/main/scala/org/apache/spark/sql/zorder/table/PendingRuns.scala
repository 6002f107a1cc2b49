package org.apache.spark.sql.zorder.table

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * Runs that are committed by the table format. Their records are written under `_zorder/pending` before the commit,
 * so that a run that dies between the commit and its record is not forgotten. Records help later runs, but no
 * commit depends on them: a record that cannot be written is only logged.
 */
final class PendingRuns(fs: FileSystem, state: StateDir) extends Logging {
  private val dir = new Path(state.dir, "pending")

  /** Before the commit. */
  def begin(request: CommitRequest): Unit = logged {
    state.writeLayouts(request.layouts)
    TextFiles.replace(fs, file(request.record.runId), RunRecordJson.write(request.record))
  }

  /**
   * After the commit.
   *
   * @param version
   *   the format's name of it
   */
  def committed(request: CommitRequest, version: => Option[Long]): Unit = logged {
    state.write(
      request.record.copy(number = state.nextNumber(), version = version),
      request.layouts)
    delete(request.record.runId)
  }

  /** After a commit that failed. */
  def abandon(runId: String): Unit = logged(delete(runId))

  /**
   * Records the branch's runs that died after their commit, which are those with a file in the table. A run that is a
   * day old and has no file there was never committed.
   *
   * @param live
   *   paths of the table's files, in the form of run records
   */
  def recover(live: => Set[String]): Unit = logged {
    val waiting = TextFiles.children(fs, dir).map(_.getPath).filter(_.getName.endsWith(".json"))
    if (waiting.nonEmpty) {
      val known = state.runs().flatMap(_.files.map(_.path)).toSet
      val records = waiting.flatMap(TextFiles.read(fs, _)).flatMap(RunRecordJson.read)
      for (record <- records.filter(_.branch == state.branch)) {
        def has(paths: Set[String]) = record.files.exists(f => paths(f.path))
        val lost = !has(known) && has(live)
        if (lost) state.write(record.copy(number = state.nextNumber()), Map.empty)
        if (lost || has(known) || record.finishedMs < System.currentTimeMillis - PendingRuns.DayMs)
          delete(record.runId)
      }
    }
  }

  /** One sentence on the runs that wait for `recover`, for statements that only read. */
  def notice(name: String): Option[String] =
    TextFiles.children(fs, dir).map(_.getPath.getName).find(_.endsWith(".json")).map { file =>
      s"The run ${file.stripSuffix(".json")} is at work on $name, or died: the next run records whether it " +
        "has committed."
    }

  private def delete(runId: String): Unit = {
    fs.delete(file(runId), false)
    ()
  }

  private def file(runId: String): Path = new Path(dir, s"$runId.json")

  private def logged(write: => Unit): Unit =
    try write
    catch { case NonFatal(e) => logWarning(s"A run's record could not be written under ${state.dir}", e) }
}

object PendingRuns {
  private val DayMs = 24L * 3600 * 1000
}

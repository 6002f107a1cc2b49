package org.apache.spark.sql.zorder.table

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.table.storage.TextFiles

/**
 * Runs whose commit is another's, the table format's: they are written down under `_zorder/pending` before it,
 * so that a run that dies between the commit and its record is not forgotten. Records help later runs; no
 * commit depends on them, so what cannot be written is logged.
 */
final class PendingRuns(fs: FileSystem, state: StateDir) extends Logging {
  private val dir = new Path(state.dir, "pending")

  /** Before the commit. */
  def begin(finished: CommitRequest): Unit = logged {
    state.writeLayouts(finished.layouts)
    TextFiles.replace(fs, file(finished.record.runId), RunRecordJson.write(finished.record))
  }

  /**
   * After the commit.
   *
   * @param version
   *   the format's name of it
   */
  def committed(finished: CommitRequest, version: => Option[Long]): Unit = logged {
    state.write(
      finished.record.copy(number = state.nextNumber(), version = version),
      finished.layouts)
    delete(finished.record.runId)
  }

  /** After a commit that did not take place. */
  def abandon(runId: String): Unit = logged(delete(runId))

  /**
   * Records the branch's runs that died behind their commit: those of which the table has a file. What is a day old and
   * has none was never committed.
   *
   * @param live
   *   the table's files, as records have their paths
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

  /** One sentence on the runs that wait for `recover`, for whoever may not write. */
  def said(name: String): Option[String] =
    TextFiles.children(fs, dir).map(_.getPath.getName).find(_.endsWith(".json")).map { file =>
      s"The run ${file.stripSuffix(".json")} is at work on $name, or died: whether it has committed is for the " +
        "next run to record."
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

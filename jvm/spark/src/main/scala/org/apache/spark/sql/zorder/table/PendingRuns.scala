package org.apache.spark.sql.zorder.table

import org.apache.hadoop.fs.{FileSystem, Path}

/**
 * Runs whose commit is another's, the table format's: they are written down under `_zorder/pending` before it,
 * so that a run that dies between the commit and its record is not forgotten.
 */
final class PendingRuns(fs: FileSystem, state: StateDir) {
  private val dir = new Path(state.dir, "pending")

  /** Before the commit. */
  def begin(finished: Finished): Unit = {
    state.writeLayouts(finished.layouts)
    TextFiles.replace(fs, file(finished.record.runId), RunRecordJson.write(finished.record))
  }

  /** After the commit. */
  def committed(finished: Finished, version: Option[Long]): Unit = {
    state.write(
      finished.record.copy(number = state.nextNumber(), version = version),
      finished.layouts)
    abandon(finished.record.runId)
  }

  /** After a commit that did not take place. */
  def abandon(runId: String): Unit = {
    fs.delete(file(runId), false)
    ()
  }

  /**
   * Records the runs that died behind their commit: those of which the table has a file. What is a day old and
   * has none was never committed.
   *
   * @param live
   *   the table's files, as records have their paths
   */
  def recover(live: => Set[String]): Unit = {
    val waiting = TextFiles.children(fs, dir).map(_.getPath.getName).filter(_.endsWith(".json"))
    if (waiting.nonEmpty) {
      val known = state.runs().flatMap(_.files.map(_.path)).toSet
      for (record <- waiting.flatMap(name => TextFiles.read(fs, new Path(dir, name)).flatMap(RunRecordJson.read)))
        if (record.files.exists(f => known(f.path))) abandon(record.runId)
        else if (record.files.exists(f => live(f.path))) {
          state.write(record.copy(number = state.nextNumber()), Map.empty)
          abandon(record.runId)
        } else if (record.finishedMs < System.currentTimeMillis - PendingRuns.DayMs) abandon(record.runId)
    }
  }

  private def file(runId: String): Path = new Path(dir, s"$runId.json")
}

object PendingRuns {
  private val DayMs = 24L * 3600 * 1000
}

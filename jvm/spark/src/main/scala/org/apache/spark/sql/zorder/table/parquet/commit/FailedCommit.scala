package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore}

/** The outcome of a commit that an error stopped and that was then finished or withdrawn as far as possible. */
private[parquet] object FailedCommit {

  /**
   * @return
   *   the journal if the commit was finished after all; then the run has succeeded
   */
  def outcome(store: JournalStore, draft: Journal, e: Throwable): Journal = {
    val left = store.get(draft.txn)
    left.filter(j => j.state == JournalState.Done && j.units.size >= draft.units.size)
      .getOrElse(throw error(draft, left, e))
  }

  private def error(draft: Journal, left: Option[Journal], e: Throwable): Throwable = e match {
    case known: ZOrderException => known
    case other =>
      val end =
        if (left.isEmpty) "nothing was changed"
        else "the next run or ZORDER VACUUM finishes or undoes the exchange, by its journal"
      ZOrderException.over(
        other,
        s"The new files of ${draft.home} could not be put in place (${ZOrderException.firstLine(other)}); $end.")
  }
}

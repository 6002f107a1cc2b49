package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore}

/** A commit that an error stopped, after it was brought to an end as far as that went. */
private[parquet] object FailedCommit {

  /**
   * @return
   *   the journal, when the commit was finished after all: then nothing is wrong with the run
   */
  def outcome(store: JournalStore, draft: Journal, e: Throwable): Journal = {
    val left = store.get(draft.txn)
    left.filter(j => j.state == JournalState.Done && j.units.size >= draft.units.size)
      .getOrElse(throw said(draft, left, e))
  }

  private def said(draft: Journal, left: Option[Journal], e: Throwable): Throwable = e match {
    case known: ZOrderException => known
    case other =>
      val end =
        if (left.isEmpty) "nothing was changed"
        else "the next run or ZORDER VACUUM finishes the exchange or takes it back, by its journal"
      ZOrderException.over(
        other,
        s"The new files of ${draft.home} could not be put in place (${ZOrderException.firstLine(other)}); $end.")
  }
}

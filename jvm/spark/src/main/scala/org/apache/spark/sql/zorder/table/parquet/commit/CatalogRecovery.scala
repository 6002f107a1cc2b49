package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.spark.sql.zorder.table.Operation
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.journal.{Heartbeat, Journal, JournalKind, JournalState}

/** Finishes or withdraws a commit to the catalog that failed or died. The catalog says whether it took place. */
private[zorder] object CatalogRecovery {

  /**
   * Every commit of the table that nobody is working on.
   *
   * @param journals
   *   all of the table's store
   */
  def recover(
      table: CatalogEntry,
      journals: Seq[Journal],
      stagingMs: Long = PathRecovery.StagingMs): Unit =
    journals.filter(unfinished).foreach { j =>
      val live = table.liveDirs().values.map(_.toUri.getPath).toSet
      def aged = System.currentTimeMillis - j.changedMs >= stagingMs
      val happened = j.units.exists(u => live(u.target.toUri.getPath))
      if (j.owner == Journal.thisJvm || (if (happened || PathRecovery.isExchanging(j))
                                           !Heartbeat.isAlive(table.store, j)
                                         else aged))
        settle(table, j.txn)
    }

  private def unfinished(j: Journal): Boolean =
    j.kind == JournalKind.Catalog && j.state != JournalState.Done && !j.active

  /** The commit `txn`, if it is not done. */
  def settle(table: CatalogEntry, txn: String): Unit =
    table.store.get(txn).filter(_.state != JournalState.Done).foreach {
      case j if j.operation == Operation.MoveHome && j.units.forall(_.inputs.isEmpty) =>
        new HomeCommit(table, Heartbeat.LeaseMs).settle(j)
      case j =>
        val completion = new CatalogCompletion(table)
        val live = CatalogCompletion.inUse(table)
        if (j.units.exists(u => live(PathText.of(u.target)))) {
          completion.finish(j)
          ()
        } else completion.abandon(j)
    }
}

package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  TableIdentity
}

/** Finishes or undoes commits of a path that died, by their journals alone. */
private[zorder] object PathRecovery {

  /** How long the staging directory of another JVM is left alone. */
  val StagingMs: Long = 24L * 3600 * 1000

  /**
   * Finishes or undoes every commit that nobody is working on.
   *
   * @param journals
   *   all of the store
   */
  def recover(
      store: JournalStore,
      journals: Seq[Journal],
      mark: ExchangeMark,
      stagingMs: Long = StagingMs,
      identity: String = ""): Unit = {
    val (ours, dropped) =
      journals.filter(_.kind == JournalKind.Path).partition(j => !TableIdentity.differ(j.table, identity))
    dropped.filter(isUnfinished).foreach(new PathCompletion(store, mark).closeDropped)
    ours.foreach(recoverOne(store, mark, _, stagingMs))
    // of a commit that died right before it took its mark away
    mark.marked.foreach(txn => if (store.get(txn).forall(_.state == JournalState.Done)) mark.end(txn, Nil))
  }

  /** The commit `txn` of this JVM, if it is not done. */
  def settle(store: JournalStore, mark: ExchangeMark, txn: String, waitMs: Long): Unit =
    store.get(txn).foreach(j => act(store, mark, j, waitMs))

  private def recoverOne(store: JournalStore, mark: ExchangeMark, journal: Journal, stagingMs: Long): Unit =
    if (!journal.active) journal.state match {
      case JournalState.Done =>
      case JournalState.Swapping | JournalState.Undoing =>
        while (store.get(journal.txn).exists(isExchanging)) {
          takeOver(store, mark, journal.txn)
          if (store.get(journal.txn).exists(isExchanging)) Thread.sleep(100L)
        }
      case _ =>
        if (journal.owner == Journal.thisJvm || System.currentTimeMillis - journal.changedMs >= stagingMs)
          store.get(journal.txn).foreach(act(store, mark, _, Heartbeat.LeaseMs))
    }

  def isUnfinished(journal: Journal): Boolean =
    journal.kind == JournalKind.Path && journal.state != JournalState.Done

  def isExchanging(journal: Journal): Boolean =
    journal.state == JournalState.Swapping || journal.state == JournalState.Undoing

  /** Finishes or undoes an exchange whose owner is dead, unless another session has begun to do so. */
  def takeOver(store: JournalStore, mark: ExchangeMark, txn: String): Unit =
    store.get(txn).filter(j => isExchanging(j) && !Heartbeat.isAlive(store, j)).foreach { dead =>
      Heartbeat.inherit(store, dead)(act(store, mark, _, Heartbeat.LeaseMs))
    }

  private def act(store: JournalStore, mark: ExchangeMark, journal: Journal, waitMs: Long): Unit =
    journal.state match {
      case JournalState.Swapping =>
        Heartbeat.during(store, journal.txn)(forward(store, mark, journal, waitMs))
      case JournalState.Undoing =>
        Heartbeat.during(store, journal.txn)(new PathCompletion(store, mark).undo(journal, waitMs))
      case JournalState.Staging | JournalState.Prepared => new PathCompletion(store, mark).abandon(journal)
      case _ =>
    }

  /** Finishes all units but those whose data somebody has changed since: these stay as they are. */
  private def forward(store: JournalStore, mark: ExchangeMark, journal: Journal, waitMs: Long): Unit = {
    val swap = new DirectoryRenames(store.fs, waitMs)
    val done = journal.units.zipWithIndex.flatMap { case (unit, i) =>
      swap.forward(unit, PathCompletion.stray(store, journal, i)) match {
        case DirectoryRenames.Swapped(ready) =>
          NestedFiles.lift(store.fs, ready)
          Some(ready)
        case DirectoryRenames.Refused(_) => None
      }
    }
    if (done.isEmpty) new PathCompletion(store, mark).abandon(journal)
    else {
      new PathCompletion(store, mark).finish(journal.copy(units = done))
      ()
    }
  }
}

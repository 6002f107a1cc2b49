package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  TableIdentity
}

/** Finishes or undoes commits of a path that died, by their journals alone. */
private[zorder] object PathRecovery {

  /** How long the commit of another JVM may be silent during its renames before it counts as dead. */
  val LeaseMs: Long = 10000L

  /** How long the staging directory of another JVM is left alone. */
  val StagingMs: Long = 24L * 3600 * 1000

  /** Finishes or undoes every commit beside `root` that nobody is working on. */
  def recover(
      fs: FileSystem,
      root: Path,
      leaseMs: Long = LeaseMs,
      stagingMs: Long = StagingMs,
      identity: String = ""): Unit =
    if (root.getParent != null) {
      val store = JournalStore.beside(fs, root)
      val (ours, dropped) =
        store.all().filter(_.kind == JournalKind.Path).partition(j =>
          !TableIdentity.differ(j.table, identity))
      dropped.filter(_.state != JournalState.Done).foreach(new PathCompletion(store).closeDropped)
      ours.foreach(recoverOne(store, _, leaseMs, stagingMs))
    }

  /** The commit `txn` of this JVM, if it is not done. */
  def settle(store: JournalStore, txn: String, waitMs: Long): Unit =
    store.get(txn).foreach(j => act(store, j, waitMs))

  private def recoverOne(store: JournalStore, journal: Journal, leaseMs: Long, stagingMs: Long): Unit = {
    val patience = journal.state match {
      case JournalState.Swapping | JournalState.Undoing => leaseMs
      case _ => stagingMs
    }
    def age = System.currentTimeMillis - journal.changedMs
    if (!journal.active && journal.state != JournalState.Done) {
      if (journal.owner != Journal.thisJvm && patience == leaseMs)
        while (age < leaseMs) Thread.sleep(100L)
      if (journal.owner == Journal.thisJvm || age >= patience)
        store.get(journal.txn).foreach(act(store, _, LeaseMs))
    }
  }

  private def act(store: JournalStore, journal: Journal, waitMs: Long): Unit = journal.state match {
    case JournalState.Swapping => forward(store, journal, waitMs)
    case JournalState.Undoing => new PathCompletion(store).undo(journal, waitMs)
    case JournalState.Staging | JournalState.Prepared => new PathCompletion(store).abandon(journal)
    case _ =>
  }

  /** Finishes all units but those whose data somebody has changed since: these stay as they are. */
  private def forward(store: JournalStore, journal: Journal, waitMs: Long): Unit = {
    val swap = new DirectoryRenames(store.fs, waitMs)
    val done = journal.units.zipWithIndex.flatMap { case (unit, i) =>
      swap.forward(unit, PathCompletion.stray(store, journal, i)) match {
        case DirectoryRenames.Swapped(ready) => Some(ready)
        case DirectoryRenames.Refused(_) => None
      }
    }
    if (done.isEmpty) new PathCompletion(store).abandon(journal)
    else {
      new PathCompletion(store).finish(journal.copy(units = done))
      ()
    }
  }
}

package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** The last steps of a commit or of its withdrawal; each can be repeated. */
private[parquet] final class PathCompletion(store: JournalStore) {

  private val fs: FileSystem = store.fs

  /** All units are in place: the history is written, the staging goes, the journal says DONE. */
  def finish(journal: Journal): Journal = {
    moveState(journal)
    new StateDir(fs, journal.home).writeBase(store.base)
    CrashPoint.hit("state-moved")
    tidy(journal)
    // a rollback has taken the old directories of the run that it undid
    val taken = journal.units.map(_.staged).toSet
    store.all().filter(j => j.txn != journal.txn && j.units.exists(u => taken(u.old))).foreach { j =>
      FileMoves.deleteEmptyDirs(fs, store.retired(j.txn))
      val left = j.units.filterNot(u => taken(u.old))
      if (left.isEmpty) store.delete(j) else store.write(j.copy(units = left))
    }
    val done = store.write(journal.at(JournalState.Done))
    CrashPoint.hit("done")
    done
  }

  /** Back to the old directories, all of them, in the reverse order. */
  def undo(journal: Journal, waitMs: Long): Unit = {
    val swap = new DirectoryRenames(fs, waitMs)
    journal.units.zipWithIndex.reverse.foreach { case (u, i) =>
      swap.backward(u, PathCompletion.stray(store, journal, i))
    }
    abandon(journal)
  }

  /** Takes away what a commit that never touched the table had prepared. */
  def abandon(journal: Journal): Unit = {
    if (journal.operation == "ROLLBACK")
      journal.units.foreach(u => RollbackCleanup.giveBack(store, journal, u.staged, u.target))
    tidy(journal)
    CrashPoint.hit("abandoned")
    store.delete(journal)
  }

  /** A commit of a table that was dropped meanwhile: its old files wait for the vacuum, all else goes. */
  def bury(journal: Journal): Unit = {
    journal.units.indices.map(PathCompletion.stray(store, journal, _)).foreach(fs.delete(_, true))
    if (store.isOurs(journal.staging.getName)) fs.delete(journal.staging, true)
    val left = journal.units.filter(u => fs.exists(u.old))
    if (left.isEmpty) store.delete(journal)
    else {
      store.write(journal.copy(units = left).at(JournalState.Done))
      ()
    }
  }

  private def moveState(journal: Journal): Unit = {
    val from = new StateDir(fs, journal.staging)
    val to = new StateDir(fs, journal.home)
    from.runs().foreach { record =>
      val there = to.runs().exists(r => r.copy(number = 0) == record.copy(number = 0))
      if (!there) {
        val layouts = record.layoutIds.values.flatMap(id => from.layout(id).map(id -> _)).toMap
        to.write(record.copy(number = to.nextNumber()), layouts)
      }
    }
  }

  private def tidy(journal: Journal): Unit = {
    journal.units.indices.map(PathCompletion.stray(store, journal, _)).foreach(fs.delete(_, true))
    // the staging directory is ours alone; a staged directory that became the table is not there any more
    if (store.isOurs(journal.staging.getName)) fs.delete(journal.staging, true)
    FileMoves.deleteEmptyDirs(fs, store.retired(journal.txn))
    ()
  }
}

private[parquet] object PathCompletion {
  def stray(store: JournalStore, journal: Journal, unit: Int): Path =
    store.stray(s"${journal.txn}-$unit")
}

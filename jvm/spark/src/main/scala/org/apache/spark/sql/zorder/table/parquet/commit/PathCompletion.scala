package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.{Operation, StateDir}
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** The last steps of a commit of a path, or of its withdrawal. Each step can be repeated after a crash. */
private[parquet] final class PathCompletion(store: JournalStore, mark: ExchangeMark) {

  private val fs: FileSystem = store.fs

  /** All units are in place: writes the history, deletes the staging directory and marks the journal as done. */
  def finish(journal: Journal): Journal = {
    StateDir.copyRuns(new StateDir(fs, journal.staging), new StateDir(fs, journal.home))
    new StateDir(fs, journal.home).writeBase(store.base)
    CrashPoint.hit("state-moved")
    cleanUp(journal)
    // a rollback has taken the old directories of the run that it undid
    val taken = journal.units.map(_.staged).toSet
    store.all().filter(j => j.txn != journal.txn && j.units.exists(u => taken(u.old))).foreach { j =>
      FileMoves.deleteEmptyDirs(fs, store.retired(j.txn))
      val left = j.units.filterNot(u => taken(u.old))
      if (left.isEmpty) store.delete(j) else store.write(j.copy(units = left))
    }
    val done = store.write(journal.at(JournalState.Done))
    CrashPoint.hit("done")
    mark.end(journal.txn, journal.units)
    CrashPoint.hit("unmarked")
    done
  }

  /** Moves all old directories back, in reverse order. */
  def undo(journal: Journal, waitMs: Long): Unit = {
    val swap = new DirectoryRenames(fs, waitMs)
    journal.units.zipWithIndex.reverse.foreach { case (u, i) =>
      swap.backward(u, PathCompletion.stray(store, journal, i))
    }
    abandon(journal)
  }

  /** Deletes what a commit had prepared that did not change the table. */
  def abandon(journal: Journal): Unit = {
    if (journal.operation == Operation.Rollback)
      journal.units.foreach(u => RollbackCleanup.deleteCopies(store, journal, u.staged, u.target))
    cleanUp(journal)
    FileMoves.deleteEmptyDirs(fs, store.retired(journal.txn))
    CrashPoint.hit("abandoned")
    mark.end(journal.txn, Nil)
    store.delete(journal)
  }

  /** For a commit of a table that was dropped meanwhile: its old files wait for the vacuum, the rest is deleted. */
  def closeDropped(journal: Journal): Unit = {
    journal.units.indices.map(PathCompletion.stray(store, journal, _)).foreach(fs.delete(_, true))
    if (store.isOurs(journal.staging.getName)) fs.delete(journal.staging, true)
    val left = journal.units.filter(u => fs.exists(u.old))
    if (left.isEmpty) store.delete(journal)
    else {
      store.write(journal.copy(units = left).at(JournalState.Done))
      ()
    }
  }

  private def cleanUp(journal: Journal): Unit = {
    journal.units.indices.map(PathCompletion.stray(store, journal, _)).foreach(fs.delete(_, true))
    // the staging directory is only ours; a staged directory that became the table has left it
    if (store.isOurs(journal.staging.getName)) fs.delete(journal.staging, true)
    ()
  }
}

private[parquet] object PathCompletion {
  def stray(store: JournalStore, journal: Journal, unit: Int): Path =
    store.stray(s"${journal.txn}-$unit")
}

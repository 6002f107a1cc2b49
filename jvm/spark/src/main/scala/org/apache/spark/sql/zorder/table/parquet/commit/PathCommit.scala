package org.apache.spark.sql.zorder.table.parquet.commit

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.{RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.parquet.files.{ActiveWriters, DirectoryListing, FilePermissions}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalState,
  JournalStore,
  SwapUnit
}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * The commit of a table that is known by its path: directories are exchanged under one journal.
 *
 * @param mark
 *   what the catalog says of the exchange
 * @param waitMs
 *   how long to wait for a job that is writing to the table
 */
private[zorder] final class PathCommit(store: JournalStore, mark: ExchangeMark, waitMs: Long) {

  private val fs: FileSystem = store.fs

  /**
   * Puts the staged directories of `draft` in place. The `kept` of its units may still be empty.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderConflictException
   *   if somebody changed the table during the run; then nothing was changed
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   if the file system failed; it says whether the table is as it was or waits for recovery
   */
  def commit(draft: Journal, record: RunRecord, layouts: Map[String, String]): Journal = {
    Journal.begin(draft.txn)
    try {
      val prepared = prepare(draft, record, layouts)
      Heartbeat.during(store, draft.txn)(new PathCompletion(store, mark).finish(swap(prepared)))
    } catch {
      case crash: CrashPoint.Crash => throw crash
      case NonFatal(e) =>
        // the table must not stay half exchanged until the next run
        Journal.end(draft.txn)
        try PathRecovery.settle(store, mark, draft.txn, waitMs)
        catch { case NonFatal(again) => e.addSuppressed(again) }
        FailedCommit.outcome(store, draft, e)
    } finally Journal.end(draft.txn)
  }

  private def prepare(draft: Journal, record: RunRecord, layouts: Map[String, String]): Journal = {
    // before the copies of untouched files, which may take long, and before anything is said to be prepared
    val units = refreshed(draft)
    CrashPoint.hit("synced")
    units.foreach(copyAttributes)
    val stateHome = units.find(_.target == draft.home).map(_.staged).getOrElse(draft.staging)
    val number = new StateDir(fs, draft.home).nextNumber()
    new StateDir(
      fs,
      stateHome).write(record.copy(number = number, location = Some(draft.home.toString)), layouts)
    val prepared = store.write(draft.copy(units = units).at(JournalState.Prepared))
    CrashPoint.hit("prepared")
    prepared
  }

  private def swap(prepared: Journal): Journal = {
    // what came meanwhile; a conflict or a job is found here before any directory is away
    val units = refreshed(prepared)
    mark.begin(prepared.txn)
    CrashPoint.hit("marked")
    val swapping = store.write(prepared.copy(units = units).at(JournalState.Swapping))
    CrashPoint.hit("swapping")
    val swap = new DirectoryRenames(fs, waitMs)
    var done = Vector.empty[SwapUnit]
    swapping.units.zipWithIndex.foreach { case (unit, i) =>
      swap.forward(unit, PathCompletion.stray(store, swapping, i)) match {
        case DirectoryRenames.Swapped(ready) =>
          NestedFiles.lift(fs, ready)
          done :+= ready
        case DirectoryRenames.Refused(why) =>
          val undoing = swapping.copy(units = done ++ swapping.units.drop(i)).at(JournalState.Undoing)
          new PathCompletion(store, mark).undo(store.write(undoing), waitMs)
          throw why
      }
    }
    swapping.copy(units = done)
  }

  /** Waits for jobs, and stages the files that are beside the inputs then: one listing of each directory for both. */
  private def refreshed(journal: Journal): Seq[SwapUnit] =
    journal.units.zip(ActiveWriters.await(fs, journal.home, journal.units.map(_.target), waitMs)).map {
      case (unit, now) =>
        UntouchedFiles.checkInputs(unit, now)
        // anybody's vacuum may have deleted them
        UntouchedFiles.checkOutputs(unit, DirectoryListing.walk(fs, unit.staged))
        UntouchedFiles.sync(fs, unit, now)
    }

  private def copyAttributes(unit: SwapUnit): Unit = {
    FilePermissions.copy(fs, unit.target, unit.staged)
    unit.inputs.headOption.foreach { model =>
      unit.outputs.foreach { o =>
        FilePermissions.copy(fs, new Path(unit.target, model.rel), new Path(unit.staged, o.rel))
      }
    }
  }
}

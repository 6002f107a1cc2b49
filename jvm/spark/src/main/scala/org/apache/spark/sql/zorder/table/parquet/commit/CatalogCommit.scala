package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.IOException
import java.util.concurrent.TimeoutException

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.zorder.conf.ZOrderOption
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{CommitRequest, RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.parquet.files.{
  ActiveWriters,
  DirectoryListing,
  FileMoves,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalState,
  JournalStore,
  SwapUnit
}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint, DriverReads, ObjectStores}

/**
 * The commit of a table of the catalog: one call changes its location, or those of its rewritten partitions. The
 * property `zorder.txn` names the last commit, or the one that is taking place; a run stops if it is not the same as at
 * its start.
 */
private[parquet] final class CatalogCommit(table: CatalogEntry, waitMs: Long) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs
  private val catalog = table.catalog
  private val hasOwners = !ObjectStores.isOne(fs.getUri.getScheme)

  /**
   * @param tree
   *   what lies in the staging directory
   * @throws ZOrderConflictException
   *   if somebody changed the table during the run; then nothing was changed
   */
  def commit(journal: Journal, tree: DirectoryListing, request: CommitRequest): Unit = guarded(journal) {
    val dirByName = table.dirByName()
    val live = table.liveDirs()
    val units = SwapPlan.byPartition(fs, journal.staging, tree, request.inputs, dirByName).map {
      case SwapPlan.Staged(partition, dir, inputs, outputs) =>
        val old = live.getOrElse(partition, throw SwapPlan.dropped(partition, table.name))
        SwapUnit(partition, target = dir, dir, old, SwapPlan.relative(fs, old, inputs), Nil, outputs)
    }
    swap(journal.copy(units = units), SwapPlan.inPlace(request.record, dirByName), request.layouts)
  }

  /** Gives the table other locations, whose files are there: those of before a run, or those that it had at first. */
  def switch(journal: Journal, record: RunRecord): Unit = bring(journal, record)(journal.units)

  /**
   * Gives the table other locations, to which `copies` brings the files first. A journal says so meanwhile, with signs of
   * life, or a vacuum would take them for files that somebody has written there.
   */
  def bring(journal: Journal, record: RunRecord)(copies: => Seq[SwapUnit]): Unit = guarded(journal) {
    val draft = store.write(journal).copy(units = copies)
    // before anything is copied beside them; the new files of a run were listed when it had written them
    DriverReads.each(draft.units, DriverReads.MostRequests)(CarriedOverFiles.checkOutputs(fs, _))
    swap(draft, record, Map.empty)
  }

  /** Puts the directories of the draft's units in place. */
  private def swap(draft: Journal, record: RunRecord, layouts: Map[String, String]): Unit = {
    // before the copies of carried-over files, which may take long, and before anything is said to be
    // prepared
    val now = awaited(draft)
    checkBase()
    val synced = refreshed(draft.units, now)
    CrashPoint.hit("synced")
    val stateHome = synced.find(_ => !table.partitioned).map(_.staged).getOrElse(draft.staging)
    new StateDir(fs, stateHome).stage(
      record.copy(number = table.state.nextNumber(), location = Some(draft.staging.toString)),
      layouts)
    checkBegun(draft)
    store.write(draft.copy(units = synced).at(JournalState.Prepared))
    CrashPoint.hit("prepared")
    // what came meanwhile; a conflict or a job is found here before the catalog is altered
    val units = refreshed(synced, awaited(draft))
    checkBegun(draft)
    val ready = store.write(draft.copy(units = units).at(JournalState.Prepared))
    // anybody's vacuum may have deleted them
    DriverReads.each(units, DriverReads.MostRequests) { u =>
      CarriedOverFiles.checkOutputs(fs, u, u.kept.filter(_.isData))
    }
    val before = checkBase()
    alter(before, ready)
    CrashPoint.hit("altered")
    val last = lastLook(before, ready)
    new CatalogCompletion(table).finish(last)
    table.reload()
  }

  /** Somebody may have taken a commit that copies for a dead one, and what it has copied away. */
  private def checkBegun(draft: Journal): Unit =
    if (!draft.operation.makesFiles && store.get(draft.txn).isEmpty)
      throw CarriedOverFiles.outputsGone(draft.units.head.staged)

  /** What lies in the old directories when no job is at work there. */
  private def awaited(draft: Journal): Seq[DirectoryListing] =
    ActiveWriters.await(fs, table.root, draft.units.map(_.old), waitMs)

  private def refreshed(units: Seq[SwapUnit], now: Seq[DirectoryListing]): Seq[SwapUnit] =
    units.zip(now).map { case (unit, tree) => refresh(unit, tree) }

  private def refresh(unit: SwapUnit, now: DirectoryListing): SwapUnit = {
    CarriedOverFiles.checkInputs(unit, now)
    if (hasOwners) CarriedOverFiles.copyPermissions(fs, unit, unit.old)
    CarriedOverFiles.sync(fs, unit, now)
  }

  /** The table as it is now, if no other run has committed since this one began. */
  private def checkBase(): CatalogTable = {
    // raw, because CHAR and VARCHAR must stay when it is written back
    val now = catalog.getTableRawMetadata(table.ident)
    val txn = CatalogCommit.TxnProperty
    if (now.properties.get(txn) != table.meta.properties.get(txn) || now.location != table.meta.location ||
      now.createTime != table.meta.createTime)
      throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_COMMIT", "table" -> table.name)
    now
  }

  private def alter(before: CatalogTable, journal: Journal): Unit = {
    val txn = if (table.partitioned) ExchangeMark.onTheWay(journal.txn) else journal.txn
    val tagged = before.copy(properties = before.properties +
      (CatalogCommit.TxnProperty -> txn) + (CatalogCommit.BaseProperty -> table.base) +
      (ZOrderOption.Location.tableProperty -> "move"))
    if (table.partitioned) {
      val now = table.partitions()
      journal.units.foreach { u =>
        val at = now.get(u.partition).map(p => fs.makeQualified(new Path(p.location)))
        if (!at.contains(fs.makeQualified(u.old)))
          throw new ZOrderConflictException(
            "ZORDER_CONFLICT.PARTITION_MOVED",
            "partition" -> u.partition,
            "table" -> table.name)
      }
      catalog.alterTable(tagged)
      CrashPoint.hit("tagged")
      asked(
        catalog.alterPartitions(
          table.ident,
          journal.units.map { u =>
            val p = now(u.partition)
            p.copy(storage = p.storage.copy(locationUri = Some(u.target.toUri)))
          }))
    } else {
      val to = journal.units.head.target.toUri
      asked(catalog.alterTable(tagged.copy(storage = tagged.storage.copy(locationUri = Some(to)))))
    }
  }

  /** Gives the table other locations. A metastore whose answer does not come may still do so. */
  private def asked(change: => Unit): Unit =
    try {
      CrashPoint.hit("asked")
      change
    } catch {
      case NonFatal(e) if LostAnswer.is(e) => throw new LostAnswer(e)
      // a client of Hive's metastore that waits to ask again
      case e: InterruptedException => throw new LostAnswer(e)
    }

  /** Returns to the old locations if a job is still writing there. Files that arrived meanwhile are kept. */
  private def lastLook(before: CatalogTable, journal: Journal): Journal = {
    ActiveWriters.find(fs, fs.makeQualified(new Path(before.location)), journal.units.map(_.old)).foreach {
      case (dir, scratch) =>
        // recovery then leaves the new places; those of a rollback or a way home are the table's own
        alterBack(
          before,
          if (journal.operation.makesFiles) store.write(journal.at(JournalState.Undoing)) else journal)
        ActiveWriters.stop(dir, scratch)
    }
    // not what the look for jobs has listed: one that ended during that has put its files there since
    val listings = DriverReads.each(journal.units, DriverReads.MostRequests)(u =>
      DirectoryListing.walk(fs, u.old))
    journal.copy(units = journal.units.zip(listings).map { case (u, now) =>
      // if old files are missing, somebody may have overwritten this place: the next statement asks about its files
      // (`LateFiles.ask`)
      val stands = u.oldFiles.filter(_.isData).forall(now.files.toSet)
      // what has the name of a file that came to the new place is a late file of the next statement
      val late = (if (stands) CarriedOverFiles.arrived(fs, u, now) else Nil)
        .filter(f => FileMoves.status(fs, new Path(u.target, f.rel)).isEmpty)
      late.foreach(f => FileMoves.copy(fs, new Path(u.old, f.rel), new Path(u.target, f.rel), f))
      u.copy(kept = u.kept ++ late)
    })
  }

  private def alterBack(before: CatalogTable, journal: Journal): Unit = {
    if (table.partitioned) {
      val now = table.partitions()
      catalog.alterPartitions(
        table.ident,
        journal.units.flatMap { u =>
          now.get(u.partition).map(p => p.copy(storage = p.storage.copy(locationUri = Some(u.old.toUri))))
        })
    }
    catalog.alterTable(
      before.copy(properties =
        before.properties + (CatalogCommit.TxnProperty -> ExchangeMark.undone(journal.txn))))
    CrashPoint.hit("given-back")
    if (journal.operation.makesFiles) new CatalogCompletion(table).leave(journal)
    else
      // files of an append that already used the new place, which was the table's before
      journal.units.foreach { u =>
        val ours = (u.outputs ++ u.kept).map(_.rel).toSet
        UnfinishedFiles.bring(fs, u.target, u.old, ours, moves = true)
      }
    table.refresh()
  }

  /**
   * A failure before the catalog is altered leaves nothing behind. If the catalog was altered, even though the call or
   * something after it failed, the commit is finished. A crash is left to recovery, and so is a call whose answer was
   * lost: the directories that it names must be there when it arrives.
   */
  private def guarded(journal: Journal)(body: => Unit): Unit =
    try {
      Journal.begin(journal.txn)
      // thousands of partitions, or copies of files, take longer than a silent owner counts as alive
      Heartbeat.during(store, journal.txn)(body)
    } catch {
      case crash: CrashPoint.Crash => throw crash
      case Cancellation.OrNonFatal(e) =>
        Cancellation.deferred(e) {
          try settle(journal, isLost = e.isInstanceOf[LostAnswer])
          catch { case NonFatal(again) => e.addSuppressed(again) }
          FailedCommit.outcome(store, journal, e)
        }
        table.reload()
    } finally Journal.end(journal.txn)

  private def settle(journal: Journal, isLost: Boolean): Unit = {
    // before the catalog is asked again, which may fail like the call
    if (isLost) store.get(journal.txn).foreach(j => store.write(j.inDoubt))
    // what was copied since somebody took this commit for a dead one, and its journal away
    if (!isLost && !journal.operation.makesFiles && store.isGone(journal.txn))
      new CatalogCompletion(table).abandon(journal)
    else CatalogRecovery.settle(table, journal.txn)
  }
}

/** The catalog was asked to change, and nobody knows whether it will. */
final private class LostAnswer(cause: Throwable) extends RuntimeException(cause)

private object LostAnswer {

  /** Whether the connection failed, and not the catalog. Clients of metastores are loaded by class loaders of their own. */
  def is(e: Throwable): Boolean = ExceptionUtils.getThrowables(e).exists {
    case _: IOException | _: TimeoutException | _: InterruptedException => true
    case other =>
      Seq("Transport", "Timeout", "SdkClientException").exists(other.getClass.getSimpleName.contains)
  }
}

private[zorder] object CatalogCommit {
  val TxnProperty = "zorder.txn"
  val BaseProperty = "zorder.base"
}

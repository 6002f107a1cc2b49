package org.apache.spark.sql.zorder.table.parquet

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.{RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.parquet.commit.{FailedCommit, Replacement, SwapPlan, UntouchedFiles}
import org.apache.spark.sql.zorder.table.parquet.files.{
  ActiveWriters,
  DirectoryListing,
  FileMoves,
  FilePermissions
}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, ObjectStores}

/**
 * The commit of a table of the catalog: its location, or those of its rewritten partitions, change in one
 * call. The property `zorder.txn` names the last commit; whoever finds another one than at his start stops.
 */
private[parquet] final class CatalogCommit(table: CatalogParquetTable, waitMs: Long) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs
  private val catalog = table.session.sessionState.catalog
  private val atHome = !ObjectStores.isOne(fs.getUri.getScheme)

  /** @throws ZOrderConflictException when the table changed under the run; then nothing was changed */
  def optimize(journal: Journal, r: Replacement): Unit = guarded(journal) {
    val actual = table.actual()
    val live = table.liveDirs()
    val units = SwapPlan.byPartition(fs, r, actual).map { case (partition, staged, inputs) =>
      val old = live.getOrElse(
        partition,
        throw new ZOrderConflictException(
          s"The partition $partition of ${table.name} was dropped during the run; nothing was changed."))
      SwapUnit(
        partition,
        home(partition, staged, old),
        staged,
        old,
        SwapPlan.relative(fs, old, inputs),
        Nil,
        SwapPlan.outputs(fs, staged))
    }
    commit(journal.copy(units = units), SwapPlan.inPlace(r.record, actual), r.layouts)
  }

  /** Puts the old locations of an earlier run back. */
  def rollback(journal: Journal, record: RunRecord): Unit = guarded(journal) {
    commit(store.write(journal), record, Map.empty)
  }

  /** The draft's units say which directories take the place of which. */
  private def commit(draft: Journal, record: RunRecord, layouts: Map[String, String]): Unit = {
    draft.units.foreach(u => ActiveWriters.await(fs, u.old, waitMs))
    checkBase()
    val synced = draft.units.map(refresh)
    CrashPoint.hit("synced")
    val stateHome = synced.find(_ => !table.partitioned).map(_.staged).getOrElse(draft.staging)
    new StateDir(fs, stateHome).write(record.copy(number = table.state.nextNumber()), layouts)
    store.write(draft.copy(units = synced).at(JournalState.Prepared))
    CrashPoint.hit("prepared")
    val placed = synced.map { u =>
      if (u.target != u.staged) FileMoves.rename(fs, u.staged, u.target)
      u.copy(staged = u.target)
    }
    CrashPoint.hit("placed")
    draft.units.foreach(u => ActiveWriters.await(fs, u.old, waitMs))
    val ready = store.write(draft.copy(units = placed.map(refresh)).at(JournalState.Prepared))
    val before = checkBase()
    alter(before, ready)
    CrashPoint.hit("altered")
    val last = lastLook(before, ready)
    new CatalogRecovery(table).finish(last)
    refresh()
  }

  private def refresh(): Unit = {
    table.reload()
    table.session.catalog.refreshTable(table.ident.quotedString)
  }

  /**
   * A partition goes back to its own directory below an external table when nothing is there any more, for
   * those who read by path. Of a managed table that would be a second exchange under running readers.
   */
  private def home(partition: String, staged: Path, old: Path): Path = {
    val own = SwapPlan.below(table.root, partition)
    if (table.external && table.partitioned && atHome && own != old && !fs.exists(own)) own else staged
  }

  private def refresh(unit: SwapUnit): SwapUnit = {
    val now = DirectoryListing.walk(fs, unit.old)
    UntouchedFiles.checkInputs(unit, now)
    UntouchedFiles.checkOutputs(unit, DirectoryListing.walk(fs, unit.staged))
    if (atHome) {
      FilePermissions.copy(fs, unit.old, unit.staged)
      unit.inputs.headOption.foreach { model =>
        unit.outputs.foreach { o =>
          FilePermissions.copy(fs, new Path(unit.old, model.rel), new Path(unit.staged, o.rel))
        }
      }
    }
    UntouchedFiles.sync(fs, unit, now)
  }

  /** The table as it is now, if nobody moved it since this run began. */
  private def checkBase(): CatalogTable = {
    // raw: what is written back must keep CHAR and VARCHAR
    val now = catalog.getTableRawMetadata(table.ident)
    val txn = CatalogCommit.TxnProperty
    if (now.properties.get(txn) != table.meta.properties.get(txn) || now.location != table.meta.location ||
      now.createTime != table.meta.createTime)
      throw new ZOrderConflictException(
        s"Another run has changed ${table.name} since this one began; nothing was changed, run it again.")
    now
  }

  private def alter(before: CatalogTable, journal: Journal): Unit = {
    val tagged = before.copy(properties = before.properties +
      (CatalogCommit.TxnProperty -> journal.txn) + (CatalogCommit.BaseProperty -> table.base))
    if (table.partitioned) {
      val now = table.partitions()
      journal.units.foreach { u =>
        val at = now.get(u.partition).map(p => fs.makeQualified(new Path(p.location)))
        if (!at.contains(fs.makeQualified(u.old)))
          throw new ZOrderConflictException(
            s"The partition ${u.partition} of ${table.name} was moved during the run; nothing was changed.")
      }
      catalog.alterTable(tagged)
      CrashPoint.hit("tagged")
      catalog.alterPartitions(
        table.ident,
        journal.units.map { u =>
          val p = now(u.partition)
          p.copy(storage = p.storage.copy(locationUri = Some(u.target.toUri)))
        })
    } else {
      val to = journal.units.head.target.toUri
      catalog.alterTable(tagged.copy(storage = tagged.storage.copy(locationUri = Some(to))))
    }
  }

  /** Back to the old locations when a job turns out to be writing there; what came meanwhile is kept. */
  private def lastLook(before: CatalogTable, journal: Journal): Journal =
    journal.copy(units = journal.units.map { u =>
      val now = DirectoryListing.walk(fs, u.old)
      now.writer.foreach { dir =>
        alterBack(before, journal)
        ActiveWriters.stop(u.old, dir)
      }
      val late = UntouchedFiles.arrived(u, now)
      late.foreach(f => FileMoves.copy(fs, new Path(u.old, f.rel), new Path(u.target, f.rel), f.modified))
      u.copy(kept = u.kept ++ late)
    })

  private def alterBack(before: CatalogTable, journal: Journal): Unit = {
    if (table.partitioned) {
      val now = table.partitions()
      catalog.alterPartitions(
        table.ident,
        journal.units.flatMap { u =>
          now.get(u.partition).map(p => p.copy(storage = p.storage.copy(locationUri = Some(u.old.toUri))))
        })
    }
    catalog.alterTable(before)
    // an append that already found the new place
    journal.units.foreach { u =>
      val ours = (u.outputs ++ u.kept).map(_.rel).toSet
      DirectoryListing.walk(fs, u.target).data.filterNot(f => ours(f.rel)).foreach { f =>
        FileMoves.copy(fs, new Path(u.target, f.rel), new Path(u.old, f.rel), f.modified)
      }
    }
    table.session.catalog.refreshTable(table.ident.quotedString)
  }

  /**
   * Whatever fails before the catalog is altered leaves nothing behind; when it was altered, though the call
   * failed or something after it, the commit is finished. A crash is for recovery.
   */
  private def guarded(journal: Journal)(body: => Unit): Unit =
    try {
      Journal.begin(journal.txn)
      body
    } catch {
      case crash: CrashPoint.Crash => throw crash
      case NonFatal(e) =>
        Journal.end(journal.txn)
        try new CatalogRecovery(table).settle(journal.txn)
        catch { case NonFatal(again) => e.addSuppressed(again) }
        FailedCommit.outcome(store, journal, e)
        refresh()
    } finally Journal.end(journal.txn)
}

private[zorder] object CatalogCommit {
  val TxnProperty = "zorder.txn"
  val BaseProperty = "zorder.base"
}

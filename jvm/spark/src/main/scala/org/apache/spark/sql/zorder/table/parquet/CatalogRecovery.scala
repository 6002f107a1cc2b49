package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.parquet.commit.{PathRecovery, RetiredPartitions, RollbackCleanup}
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore, TableIdentity}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** After a commit to the catalog that died: the catalog itself says whether it happened. */
private[parquet] final class CatalogRecovery(table: CatalogParquetTable) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs

  /** Finishes or withdraws the journal, if it is not done. */
  def settle(txn: String): Unit =
    store.get(txn).filter(_.state != JournalState.Done).foreach { j =>
      val live = liveDirs()
      if (j.units.exists(u => live(path(u.target)))) {
        finish(j)
        ()
      } else abandon(j)
    }

  /** The new locations are the table's: the history is written and the journal says DONE. */
  def finish(altered: Journal): Journal = {
    val journal = if (table.isManaged) retired(altered) else altered
    if (table.partitioned) {
      moveState(journal)
      fs.delete(new Path(journal.staging, StateDir.Name), true)
      fs.delete(new Path(journal.staging, "_SUCCESS"), false)
      FileMoves.deleteEmptyDirs(fs, journal.staging)
    }
    if (table.isManaged) table.state.writeBase(store.base)
    CrashPoint.hit("state-moved")
    // a rollback has taken the old directories of the run that it undid
    val taken = journal.units.map(_.target).toSet
    store.all().filter(j => j.txn != journal.txn && TableIdentity.same(j.table, journal.table)).foreach { j =>
      val left = j.units.filterNot(u => taken(u.old))
      if (left.size < j.units.size) {
        if (left.isEmpty) store.delete(j) else store.write(j.copy(units = left))
      }
    }
    val done = store.write(journal.at(JournalState.Done))
    CrashPoint.hit("done")
    done
  }

  private def retired(journal: Journal): Journal = {
    val live = liveDirs()
    RetiredPartitions.all(fs, table.root, journal, live)
  }

  /** Takes away what was prepared, but never a directory that the table uses. */
  def abandon(journal: Journal): Unit = {
    val live = liveDirs()
    def free(dir: Path): Boolean = !live.exists(l => l == path(dir) || l.startsWith(s"${path(dir)}/"))
    val prepared = if (journal.operation == "ROLLBACK") {
      journal.units.foreach(u => RollbackCleanup.giveBack(store, journal, u.target, u.old))
      Nil // the old directories of an earlier run, not ours to delete
    } else journal.units.flatMap(u => Seq(u.target, u.staged))
    (prepared :+ journal.staging).distinct.filter(free).foreach(dir => fs.delete(dir, true))
    CrashPoint.hit("abandoned")
    store.delete(journal)
  }

  private def moveState(journal: Journal): Unit = {
    val to = table.state
    new StateDir(fs, journal.staging).runs().foreach { record =>
      if (!to.runs().exists(r => r.copy(number = 0) == record.copy(number = 0))) {
        val from = new StateDir(fs, journal.staging)
        val layouts = record.layoutIds.values.flatMap(id => from.layout(id).map(id -> _)).toMap
        to.write(record.copy(number = to.nextNumber()), layouts)
      }
    }
  }

  private def liveDirs(): Set[String] = {
    table.reload()
    table.liveDirs().values.map(path).toSet + path(table.root)
  }

  private def path(p: Path): String = p.toUri.getPath.stripSuffix("/")
}

private[zorder] object CatalogRecovery {

  private def unfinished(table: CatalogParquetTable): Seq[Journal] =
    table.store.all().filter(j => j.kind == "catalog" && j.state != JournalState.Done && !j.active)

  def recover(table: CatalogParquetTable, stagingMs: Long = PathRecovery.StagingMs): Unit =
    unfinished(table).foreach { j =>
      val live = table.liveDirs().values.map(_.toUri.getPath).toSet
      val age = System.currentTimeMillis - j.changedMs
      val happened = j.units.exists(u => live(u.target.toUri.getPath))
      val lease = if (happened) PathRecovery.LeaseMs else stagingMs
      if (j.owner == Journal.thisJvm || age >= lease) new CatalogRecovery(table).settle(j.txn)
    }
}

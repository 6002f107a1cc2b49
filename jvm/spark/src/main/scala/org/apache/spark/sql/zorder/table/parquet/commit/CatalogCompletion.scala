package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.{Operation, StateDir}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore, TableIdentity}
import org.apache.spark.sql.zorder.table.storage.{AtomicRenames, CrashPoint}

/** The last steps of a commit to the catalog, or of its withdrawal. Each step can be repeated after a crash. */
private[parquet] final class CatalogCompletion(table: CatalogEntry) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs

  /** The catalog has the new locations: writes the history and marks the journal as done. */
  def finish(altered: Journal): Journal = {
    val journal =
      if (table.isManaged)
        RetiredPartitions.moveAside(
          fs,
          AtomicRenames.on(table.session, fs),
          table.root,
          altered,
          CatalogCompletion.inUse(table))
      else altered
    if (table.partitioned) {
      StateDir.copyRuns(new StateDir(fs, journal.staging), table.state)
      fs.delete(new Path(journal.staging, StateDir.Name), true)
      fs.delete(new Path(journal.staging, "_SUCCESS"), false)
      FileMoves.deleteEmptyDirs(fs, journal.staging)
    }
    if (table.isManaged) table.state.writeBase(store.base)
    CrashPoint.hit("state-moved")
    if (altered.operation == Operation.Optimize) recordHomes(altered)
    forgetTaken(journal)
    val done = store.write(journal.at(JournalState.Done))
    CrashPoint.hit("done")
    done
  }

  /** A flat table's state lies in the directory that has just become the table. */
  private def recordHomes(altered: Journal): Unit = {
    val root = altered.units.find(_ => !table.partitioned).fold(table.root)(_.target)
    new StateDir(fs, root).addHomes(
      altered.units.filterNot(u => table.topOf(u.old).isDefined).map(u =>
        u.partition -> u.old.toUri.toString).toMap)
  }

  /** A rollback has taken the old directories of the run that it undid. */
  private def forgetTaken(journal: Journal): Unit = {
    val taken = journal.units.map(_.target).toSet
    store.all().filter(j => j.txn != journal.txn && TableIdentity.same(j.table, journal.table)).foreach { j =>
      val left = j.units.filterNot(u => taken(u.old))
      if (left.size < j.units.size) {
        if (left.isEmpty) store.delete(j) else store.write(j.copy(units = left))
      }
    }
  }

  /** Deletes what was prepared, but never a directory that the table uses. */
  def abandon(journal: Journal): Unit = {
    val live = CatalogCompletion.inUse(table)
    def free(dir: Path): Boolean = {
      val path = PathText.of(dir)
      !live.exists(l => l == path || l.startsWith(s"$path/"))
    }
    val prepared = journal.operation match {
      case Operation.Rollback =>
        journal.units.foreach(u => RollbackCleanup.deleteCopies(store, journal, u.target, u.old))
        Nil // the old directories of an earlier run, not ours to delete
      case Operation.MoveHome => Nil // what was copied is taken by the next attempt
      case _ => journal.units.flatMap(u => Seq(u.target, u.staged))
    }
    (prepared :+ journal.staging).distinct.filter(free).foreach(dir => fs.delete(dir, true))
    CrashPoint.hit("abandoned")
    store.delete(journal)
  }
}

private[parquet] object CatalogCompletion {

  /** The paths of the table and of its partitions, as the catalog has them now. */
  def inUse(table: CatalogEntry): Set[String] = {
    table.reload()
    table.liveDirs().values.map(PathText.of).toSet + PathText.of(table.root)
  }
}

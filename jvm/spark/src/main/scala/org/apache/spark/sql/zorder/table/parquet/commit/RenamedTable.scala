package org.apache.spark.sql.zorder.table.parquet.commit

import java.net.URI

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalState,
  JournalStore,
  TableIdentity
}

/**
 * When a managed table is renamed, its directory is renamed too, but what lies beside it keeps the old name. The
 * table's state knows that name, and `adopt` moves the journals and their directories to the new name.
 */
private[zorder] object RenamedTable {

  /**
   * Also takes over what a dead run has left, so that it can be finished under the new name.
   *
   * @param exchanging
   *   the commit whose mark the table has; the state may not know the earlier name before it is done
   * @param query
   *   whether a query asks. It finishes what it can read, and leaves the earlier name to the next statement that changes
   *   the table
   */
  def adopt(
      fs: FileSystem,
      root: Path,
      identity: String,
      exchanging: Option[String],
      query: Boolean = false): Unit = {
    val (state, now) = (new StateDir(fs, root), JournalStore.beside(fs, root))
    val marked = exchanging.filter(now.get(_).isEmpty).flatMap(JournalStore.baseOf(fs, root.getParent, _))
    val names = (state.base.map(_.trim) ++ marked).toSet
    names.filter(b => b.nonEmpty && b != root.getName && !b.contains('/')).foreach { base =>
      val before = new JournalStore(fs, root.getParent, base)
      val found = if (query) before.known() else before.all()
      val all = found.filter(j => TableIdentity.same(j.table, identity))
      val (ready, atWork) = all.partition(isReady(before, _))
      ready.foreach(adopt(_, all, root, before, now))
      // those that are at work, or may be, are looked at again the next time
      if (atWork.isEmpty && !query) {
        val place = Seq(new Path(root.getParent, base) -> root)
        state.addHomes(state.homes().map { case (partition, home) =>
          partition -> moved(new Path(new URI(home)), place).toUri.toString
        })
        state.writeBase(root.getName)
      }
    }
  }

  private def isReady(store: JournalStore, journal: Journal): Boolean = !journal.active && {
    if (journal.state == JournalState.Done) true
    else if (journal.isExchanging) !Heartbeat.isAlive(store, journal)
    else journal.owner == Journal.thisJvm || PathRecovery.isAged(journal, PathRecovery.StagingMs)
  }

  /** Directories first: under the new name, a journal without them would look like a run that has come to nothing. */
  private def adopt(
      journal: Journal,
      all: Seq[Journal],
      root: Path,
      before: JournalStore,
      now: JournalStore): Unit = {
    val fs = now.fs
    def own(store: JournalStore, of: Journal) = Seq(store.retired(of.txn), store.staging(of.txn)) ++
      of.units.indices.map(i => store.stray(s"${of.txn}-$i"))
    def beside(of: Journal) = own(before, of).zip(own(now, of))
    beside(journal).foreach { case (from, to) => if (fs.exists(from)) FileMoves.rename(fs, from, to) }
    // a rollback names directories of the run that it undoes
    if (now.get(journal.txn).isEmpty)
      now.write(moved(journal, (journal.home -> root) +: all.flatMap(beside)).copy(home = root))
    before.delete(journal)
  }

  private def moved(journal: Journal, places: Seq[(Path, Path)]): Journal = {
    def path(p: Path): Path = moved(p, places)
    def text(p: String): String = path(new Path(p)).toString
    journal.copy(
      staging = path(journal.staging),
      units =
        journal.units.map(u => u.copy(target = path(u.target), staged = path(u.staged), old = path(u.old))),
      carried = journal.carried.map(f => f.copy(rel = text(f.rel))),
      ignored = journal.ignored.map(f => f.copy(rel = text(f.rel))))
  }

  private def moved(path: Path, places: Seq[(Path, Path)]): Path = places.collectFirst {
    case (from, to) if PathText.of(path) == PathText.of(from) => to
    case (from, to) if PathText.isWithin(PathText.of(path), PathText.of(from)) =>
      new Path(s"$to${PathText.of(path).stripPrefix(PathText.of(from))}")
  }.getOrElse(path)
}

package org.apache.spark.sql.zorder.table.parquet.journal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.parquet.files.FileMoves

/**
 * When a managed table is renamed, its directory is renamed too, but what lies beside it keeps the old name. The
 * table's state knows that name, and `adopt` moves the journals and the directories of old files to the new name.
 */
private[zorder] object RenamedTable {

  def adopt(fs: FileSystem, root: Path, identity: String): Unit = {
    val state = new StateDir(fs, root)
    state.base.map(_.trim).filter(b => b.nonEmpty && b != root.getName && !b.contains('/')).foreach { base =>
      val (before, now) = (new JournalStore(fs, root.getParent, base), JournalStore.beside(fs, root))
      before.all().filter(j =>
        j.state == JournalState.Done && TableIdentity.same(j.table, identity)).foreach {
        j =>
          val (from, to) = (before.retired(j.txn), now.retired(j.txn))
          now.write(moved(j, Seq(j.home -> root, from -> to)).copy(home = root))
          if (fs.exists(from)) FileMoves.rename(fs, from, to)
          before.delete(j)
      }
      state.writeBase(root.getName)
    }
  }

  private def moved(journal: Journal, places: Seq[(Path, Path)]): Journal = {
    def text(path: String): String = places.collectFirst {
      case (from, to) if path == from.toString || path.startsWith(s"$from/") =>
        s"$to${path.stripPrefix(from.toString)}"
    }.getOrElse(path)
    def path(p: Path): Path = new Path(text(p.toString))
    journal.copy(
      staging = path(journal.staging),
      units =
        journal.units.map(u => u.copy(target = path(u.target), staged = path(u.staged), old = path(u.old))),
      carried = journal.carried.map(f => f.copy(rel = text(f.rel))),
      ignored = journal.ignored.map(f => f.copy(rel = text(f.rel))))
  }
}

package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.StateDir
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FileMoves}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalStore}

/** A rollback stages the old directory of an earlier run in place. If it fails, the files it copied there go. */
private[parquet] object RollbackCleanup {

  /**
   * @param dir
   *   the old directory
   * @param live
   *   where the table's data still is; only files that are there too are deleted
   */
  def deleteCopies(store: JournalStore, rollback: Journal, dir: Path, live: Path): Unit =
    for {
      j <- store.all() if j.txn != rollback.txn
      unit <- j.units if unit.old == dir
    } {
      val theirs = unit.named.map(_.rel).toSet ++ j.carried.map(_.rel.stripPrefix(s"$dir/"))
      DirectoryListing.walk(store.fs, dir).files.filterNot(f => theirs(f.rel)).foreach { f =>
        val same = FileMoves.status(store.fs, new Path(live, f.rel)).exists(_.getLen == f.length)
        if (same || f.rel.startsWith(s"${StateDir.Name}/")) store.fs.delete(new Path(dir, f.rel), false)
      }
    }
}

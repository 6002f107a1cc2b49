package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.parquet.commit.SwapPlan
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FileMoves, ListedFile}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * Files that arrived in a directory after its data had moved, from a writer that had opened them before or that knows
 * the table by its old path. Their rows belong to the table, so they are copied to where it is now.
 */
private[zorder] object LateFiles {

  /** Late files of all finished commits that are not copied yet: (journal, exchange, file). */
  def find(table: ParquetTable): Seq[(Journal, SwapUnit, ListedFile)] = {
    val live = table.liveDirs().values.map(_.toUri.getPath).toSet
    for {
      j <- table.doneJournals()
      u <- j.units if !live(u.old.toUri.getPath)
      f <- inOld(table, j, u)
    } yield (j, u, f)
  }

  private def inOld(table: ParquetTable, journal: Journal, unit: SwapUnit): Seq[ListedFile] = {
    val known = unit.named.map(_.rel).toSet
    val carried = journal.carried.map(_.rel).toSet
    DirectoryListing.walk(table.store.fs, unit.old).data
      .filterNot(f => known(f.rel) || carried(new Path(unit.old, f.rel).toString))
  }

  /**
   * Files in the default directory of a managed table's partition that a run has put elsewhere, from a writer that had
   * listed the table before: (default directory, where the data is now, file).
   */
  def atHome(table: ParquetTable): Seq[(Path, Path, ListedFile)] = table match {
    case t: CatalogParquetTable if t.isManaged && t.partitioned =>
      val moved = t.doneJournals().flatMap(_.units).map(_.target.toUri.getPath).toSet
      for {
        (partition, dir) <- t.liveDirs().toSeq.sortBy(_._1) if moved(dir.toUri.getPath)
        own = SwapPlan.below(t.root, partition) if own.toUri.getPath != dir.toUri.getPath
        tree = DirectoryListing.walk(t.store.fs, own) if tree.writer.isEmpty
        f <- tree.data
      } yield (own, dir, f)
    case _ => Nil
  }

  /** Moves them: they must not be there any more when somebody drops the partition. */
  private def carryHome(table: ParquetTable): Int = {
    val fs = table.store.fs
    val found = atHome(table)
    found.foreach { case (own, dir, f) =>
      copyTo(table, own, f, dir)
      CrashPoint.hit("late-copied")
      fs.delete(new Path(own, f.rel), false)
    }
    found.size
  }

  /** Copies late files and notes them in their journals; returns how many there were. */
  def carry(table: ParquetTable): Int = carryHome(table) + carryOld(table)

  private def carryOld(table: ParquetTable): Int = {
    val live = table.liveDirs()
    find(table).groupBy(_._1.txn).map { case (txn, found) =>
      val carried = found.flatMap { case (_, unit, file) =>
        live.get(unit.partition).filter(_ =>
          DirectoryListing.walk(table.store.fs, unit.old).writer.isEmpty).map { dir =>
          copyTo(table, unit.old, file, dir)
          file.copy(rel = new Path(unit.old, file.rel).toString)
        }
      }
      CrashPoint.hit("late-copied")
      table.store.get(txn).foreach(j => table.store.write(j.copy(carried = j.carried ++ carried)))
      carried.size
    }.sum
  }

  /** A file of the same name and length was copied before a crash. */
  private def copyTo(table: ParquetTable, old: Path, file: ListedFile, dir: Path): Unit = {
    val to = new Path(dir, file.rel)
    if (!FileMoves.status(table.store.fs, to).exists(_.getLen == file.length))
      FileMoves.copy(table.store.fs, new Path(old, file.rel), to, file.modified)
  }
}

package org.apache.spark.sql.zorder.table.parquet.commit

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.parquet.files.{
  DirectoryListing,
  FileMoves,
  HiddenDirectories,
  ListedFile
}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * Empties the places where Spark makes the partitions of a managed table. Old files there would become rows again if
 * somebody dropped a partition, which deletes its new place, and then inserted into it. Each step can be repeated.
 */
private[parquet] object RetiredPartitions {

  /**
   * @param atOnce
   *   whether a directory is renamed in one step there
   * @param live
   *   current paths of the partitions; a place that is in use again stays
   * @return
   *   the journal with the new places of the old files
   */
  def moveAside(
      fs: FileSystem,
      atOnce: Boolean,
      root: Path,
      journal: Journal,
      live: Set[String]): Journal = {
    val to = HiddenDirectories.retired(root, journal.txn)
    journal.copy(units = journal.units.map { u =>
      if (!HiddenDirectories.isVisible(root, u.old) || live(u.old.toUri.getPath)) u
      else one(fs, atOnce, u, SwapPlan.below(to, u.partition))
    })
  }

  private def one(fs: FileSystem, atOnce: Boolean, unit: SwapUnit, to: Path): SwapUnit = {
    if (atOnce && !fs.exists(to)) { if (fs.exists(unit.old)) FileMoves.rename(fs, unit.old, to) }
    else singly(fs, unit.old, to)
    CrashPoint.hit("retired")
    val now = if (atOnce) unit else moved(unit, DirectoryListing.walk(fs, to))
    now.copy(old = to)
  }

  /** File by file, if a rename would be a copy, or to go on after a crash. */
  private def singly(fs: FileSystem, from: Path, to: Path): Unit = {
    DirectoryListing.walk(fs, from).files.foreach { f =>
      val (source, target) = (new Path(from, f.rel), new Path(to, f.rel))
      if (!FileMoves.status(fs, target).exists(_.getLen == f.length))
        FileMoves.copy(fs, source, target, f.modified)
      fs.delete(source, false)
    }
    FileMoves.deleteEmptyDirs(fs, from)
    ()
  }

  /** A copy has a new modification time if the file system cannot set it. */
  private def moved(unit: SwapUnit, tree: DirectoryListing): SwapUnit = {
    val there = tree.files.map(f => (f.rel, f.length) -> f).toMap
    def now(files: Seq[ListedFile]) = files.map(f => there.getOrElse((f.rel, f.length), f))
    unit.copy(inputs = now(unit.inputs), kept = now(unit.kept))
  }
}

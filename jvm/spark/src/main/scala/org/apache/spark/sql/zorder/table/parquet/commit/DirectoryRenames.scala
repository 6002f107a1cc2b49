package org.apache.spark.sql.zorder.table.parquet.commit

import scala.annotation.tailrec

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.parquet.files.{
  ActiveWriters,
  DirectoryListing,
  FileMoves,
  MountPoints
}
import org.apache.spark.sql.zorder.table.parquet.journal.SwapUnit
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * The renames that put one directory in place of another. Each step first looks at what is there, so that it can be
 * repeated after a crash at any point.
 */
private[parquet] final class DirectoryRenames(fs: FileSystem, waitMs: Long) {

  import DirectoryRenames._

  /** target -> old, then staged -> target. If the old data is not as expected, old -> target again. */
  def forward(unit: SwapUnit, stray: Path): Outcome =
    if (MountPoints.isPoint(unit.target)) {
      backward(unit, stray)
      Refused(new ZOrderConflictException(s"${unit.target} is a mount point and cannot be exchanged."))
    } else if (!fs.exists(unit.staged)) {
      if (fs.exists(unit.old) && fs.exists(unit.target)) Swapped(unit)
      else {
        backward(unit, stray)
        gone(unit, unit.staged)
      }
    } else if (!fs.exists(unit.old) && !fs.exists(unit.target)) gone(unit, unit.target)
    else
      moved(unit).flatMap(_ => checkedAndSynced(unit)) match {
        case Left(why) =>
          backward(unit, stray)
          Refused(why)
        case Right(ready) =>
          CrashPoint.hit("checked-old")
          // somebody created it again while it was away: what they wrote becomes part of the new data
          if (fs.exists(ready.target)) {
            putAside(ready, stray, ready.staged, Set.empty)
            CrashPoint.hit("moved-stray")
          } else carry(stray, ready.staged, Set.empty)
          FileMoves.rename(fs, ready.staged, ready.target)
          CrashPoint.hit("moved-new")
          Swapped(ready)
      }

  /** target -> old, unless a job has begun there while other units were exchanged. */
  private def moved(unit: SwapUnit): Either[ZOrderConflictException, Unit] =
    if (fs.exists(unit.old)) Right(())
    else
      try {
        // a job that begins now would lose its scratch directory
        ActiveWriters.await(fs, unit.target, waitMs)
        FileMoves.rename(fs, unit.target, unit.old)
        CrashPoint.hit("moved-old")
        Right(())
      } catch { case e: ZOrderConflictException => Left(e) }

  private def gone(unit: SwapUnit, dir: Path): Outcome =
    Refused(new ZOrderConflictException(s"$dir was deleted by somebody else during the run; run it again."))

  /**
   * target -> staged, then old -> target. Files that arrived in the target meanwhile are copied to the old data. If the
   * staged directory still exists, the target is not ours, and it moves to `stray`.
   */
  def backward(unit: SwapUnit, stray: Path): Unit =
    if (fs.exists(unit.old)) {
      if (MountPoints.isPoint(unit.target)) copyBack(unit)
      else {
        moveBack(unit, stray)
        CrashPoint.hit("undo-moved-old")
      }
    }

  private def moveBack(unit: SwapUnit, stray: Path): Unit = {
    val ours = (unit.outputs ++ unit.kept).map(_.rel).toSet
    if (fs.exists(unit.target)) {
      putAside(unit, if (fs.exists(unit.staged)) stray else unit.staged, unit.old, ours)
      deleteEmptyScratch(unit.old)
      CrashPoint.hit("undo-moved-new")
    } else Seq(stray, unit.staged).foreach(carry(_, unit.old, ours))
    FileMoves.rename(fs, unit.old, unit.target)
  }

  /**
   * A mount point cannot be the target of a rename. The data beside it was copied there by Hadoop, perhaps only in
   * part.
   */
  private def copyBack(unit: SwapUnit): Unit = {
    DirectoryListing.walk(fs, unit.old).files.foreach { f =>
      val to = new Path(unit.target, f.rel)
      if (!FileMoves.status(fs, to).exists(_.getLen == f.length))
        FileMoves.copy(fs, new Path(unit.old, f.rel), to, f.modified)
    }
    fs.delete(unit.old, true)
    ()
  }

  private def checkedAndSynced(unit: SwapUnit): Either[ZOrderConflictException, SwapUnit] =
    try {
      // from here on nobody adds to it by its name: what is rewritten is what is there
      val now = DirectoryListing.walk(fs, unit.old)
      now.writer.foreach(dir => ActiveWriters.stop(unit.target, dir))
      UntouchedFiles.checkInputs(unit, now)
      Right(UntouchedFiles.sync(fs, unit, now))
    } catch { case e: ZOrderConflictException => Left(e) }

  /**
   * Moves the target away when all that is not ours in it was copied into `to`. A job at work there is waited for, as
   * its commit looks in that place for what its tasks wrote; one that begins just then gets the directory back.
   */
  @tailrec
  private def putAside(unit: SwapUnit, aside: Path, to: Path, ours: Set[String]): Unit = {
    ActiveWriters.await(fs, unit.target, waitMs)
    carry(unit.target, to, ours)
    CrashPoint.hit("undo-carried")
    carry(aside, to, ours) // of an attempt that died
    fs.delete(aside, true)
    FileMoves.rename(fs, unit.target, aside)
    carry(aside, to, ours)
    if (DirectoryListing.walk(fs, aside).writer.isDefined && !fs.exists(unit.target)) {
      FileMoves.rename(fs, aside, unit.target)
      putAside(unit, aside, to, ours)
    }
  }

  /** Copies data files, as far as they are not there yet. */
  private def carry(from: Path, to: Path, ours: Set[String]): Unit =
    DirectoryListing.walk(fs, from).data.filterNot(f => ours(f.rel)).foreach { f =>
      val copy = new Path(to, f.rel)
      if (!FileMoves.status(fs, copy).exists(_.getLen == f.length))
        FileMoves.copy(fs, new Path(from, f.rel), copy, f.modified)
    }

  /** Of a job that has begun here and was done in the directory that its tasks made again. */
  private def deleteEmptyScratch(dir: Path): Unit =
    DirectoryListing.walk(fs, dir).writers.foreach(w => FileMoves.deleteEmptyDirs(fs, new Path(dir, w)))
}

private[parquet] object DirectoryRenames {

  /** How a swap ended. */
  sealed trait Outcome
  final case class Swapped(unit: SwapUnit) extends Outcome
  final case class Refused(why: ZOrderConflictException) extends Outcome
}

package org.apache.spark.sql.zorder.table.parquet.commit

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
    else {
      if (!fs.exists(unit.old)) {
        FileMoves.rename(fs, unit.target, unit.old)
        CrashPoint.hit("moved-old")
      }
      checkedAndSynced(unit) match {
        case Left(why) =>
          backward(unit, stray)
          Refused(why)
        case Right(ready) =>
          CrashPoint.hit("checked-old")
          if (fs.exists(ready.target)) adoptStray(ready, stray)
          FileMoves.rename(fs, ready.staged, ready.target)
          CrashPoint.hit("moved-new")
          Swapped(ready)
      }
    }

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
    if (fs.exists(unit.target)) {
      val ours = (unit.outputs ++ unit.kept).map(_.rel).toSet
      DirectoryListing.walk(fs, unit.target).data.filterNot(f => ours(f.rel)).foreach { f =>
        FileMoves.copy(fs, new Path(unit.target, f.rel), new Path(unit.old, f.rel), f.modified)
      }
      CrashPoint.hit("undo-carried")
      if (fs.exists(unit.staged)) moveStray(unit, stray) else FileMoves.rename(fs, unit.target, unit.staged)
      CrashPoint.hit("undo-moved-new")
    }
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
      val now = DirectoryListing.walk(fs, unit.old)
      now.writer.foreach(dir => ActiveWriters.stop(unit.target, dir))
      UntouchedFiles.checkInputs(unit, now)
      Right(UntouchedFiles.sync(fs, unit, now))
    } catch { case e: ZOrderConflictException => Left(e) }

  /** Somebody created the target again while it was away: what they wrote becomes part of the new data. */
  private def adoptStray(unit: SwapUnit, stray: Path): Unit = {
    val tree = ActiveWriters.await(fs, unit.target, waitMs)
    tree.data.foreach { f =>
      FileMoves.copy(fs, new Path(unit.target, f.rel), new Path(unit.staged, f.rel), f.modified)
    }
    moveStray(unit, stray)
    CrashPoint.hit("moved-stray")
  }

  /** When all data of the target has been copied. */
  private def moveStray(unit: SwapUnit, stray: Path): Unit = {
    if (fs.exists(stray)) fs.delete(stray, true)
    FileMoves.rename(fs, unit.target, stray)
  }
}

private[parquet] object DirectoryRenames {

  /** How a swap ended. */
  sealed trait Outcome
  final case class Swapped(unit: SwapUnit) extends Outcome
  final case class Refused(why: ZOrderConflictException) extends Outcome
}

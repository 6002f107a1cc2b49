package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * The renames that put one directory in place of another. Each step looks at what is there first, so that
 * it can be repeated after a crash at any point.
 */
private[parquet] final class UnitSwap(fs: FileSystem, waitMs: Long) {

  import UnitSwap._

  /** target -> old, staged -> target; when the old data is not as expected, old -> target again. */
  def forward(unit: SwapUnit, stray: Path): Outcome =
    if (Mounts.isPoint(unit.target)) {
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
        Moves.rename(fs, unit.target, unit.old)
        CrashPoint.hit("moved-old")
      }
      checkedAndSynced(unit) match {
        case Left(why) =>
          backward(unit, stray)
          Refused(why)
        case Right(ready) =>
          CrashPoint.hit("checked-old")
          if (fs.exists(ready.target)) adoptStray(ready, stray)
          Moves.rename(fs, ready.staged, ready.target)
          CrashPoint.hit("moved-new")
          Swapped(ready)
      }
    }

  private def gone(unit: SwapUnit, dir: Path): Outcome =
    Refused(new ZOrderConflictException(s"$dir was deleted by somebody else during the run; run it again."))

  /**
   * staged <- target, target <- old; what came into the target meanwhile goes into the old data. A target
   * beside a staged directory is not ours: it goes to `stray`.
   */
  def backward(unit: SwapUnit, stray: Path): Unit =
    if (fs.exists(unit.old)) {
      if (Mounts.isPoint(unit.target)) copyBack(unit)
      else {
        moveBack(unit, stray)
        CrashPoint.hit("undo-moved-old")
      }
    }

  private def moveBack(unit: SwapUnit, stray: Path): Unit = {
    if (fs.exists(unit.target)) {
      val ours = (unit.outputs ++ unit.kept).map(_.rel).toSet
      DirectoryListing.walk(fs, unit.target).data.filterNot(f => ours(f.rel)).foreach { f =>
        Moves.copy(fs, new Path(unit.target, f.rel), new Path(unit.old, f.rel), f.modified)
      }
      CrashPoint.hit("undo-carried")
      if (fs.exists(unit.staged)) moveStray(unit, stray) else Moves.rename(fs, unit.target, unit.staged)
      CrashPoint.hit("undo-moved-new")
    }
    Moves.rename(fs, unit.old, unit.target)
  }

  /**
   * Onto a mount point nothing can be renamed. What lies beside it in place of the data got there by a copy of
   * Hadoop's, which may have been a part of it only.
   */
  private def copyBack(unit: SwapUnit): Unit = {
    DirectoryListing.walk(fs, unit.old).files.foreach { f =>
      val to = new Path(unit.target, f.rel)
      if (!Moves.status(fs, to).exists(_.getLen == f.length))
        Moves.copy(fs, new Path(unit.old, f.rel), to, f.modified)
    }
    fs.delete(unit.old, true)
    ()
  }

  private def checkedAndSynced(unit: SwapUnit): Either[ZOrderConflictException, SwapUnit] =
    try {
      val now = DirectoryListing.walk(fs, unit.old)
      now.writer.foreach(dir => Writers.stop(unit.target, dir))
      Kept.checkInputs(unit, now)
      Right(Kept.sync(fs, unit, now))
    } catch { case e: ZOrderConflictException => Left(e) }

  /** Somebody made the target anew while it was away: what they wrote becomes part of the new data. */
  private def adoptStray(unit: SwapUnit, stray: Path): Unit = {
    val tree = Writers.await(fs, unit.target, waitMs)
    tree.data.foreach { f =>
      Moves.copy(fs, new Path(unit.target, f.rel), new Path(unit.staged, f.rel), f.modified)
    }
    moveStray(unit, stray)
    CrashPoint.hit("moved-stray")
  }

  /** All data of the target has been copied by now. */
  private def moveStray(unit: SwapUnit, stray: Path): Unit = {
    if (fs.exists(stray)) fs.delete(stray, true)
    Moves.rename(fs, unit.target, stray)
  }
}

private[parquet] object UnitSwap {

  /** How a swap ended. */
  sealed trait Outcome
  final case class Swapped(unit: SwapUnit) extends Outcome
  final case class Refused(why: ZOrderConflictException) extends Outcome
}

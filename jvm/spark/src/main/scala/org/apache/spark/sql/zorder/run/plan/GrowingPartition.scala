package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.table.file.DataFile

/** A partition with new files, the layout that it keeps, and what happens to its new rows. */
final private[run] case class GrowingPartition(
    placed: PlacedPartition,
    ref: LayoutRef,
    growth: Growth,
    plan: GrowthPlan) {

  /** The files of earlier runs that are written again: those of the cells, and of those across cells some. */
  def rewritten: Seq[DataFile] = plan match {
    case GrowthPlan.Merge(cells) => cells.toSeq.sorted.flatMap(placed.settled.getOrElse(_, Nil)) ++ spanning
    case _ => spanning
  }

  /** The files whose rows move: new ones, and those across cells that are written again. */
  def moved: Seq[DataFile] = placed.fresh ++ spanning

  /** The files across cells that are written again: all of them if all cells are. */
  private def spanning: Seq[DataFile] = plan match {
    case append: GrowthPlan.Append => placed.appended.takeRight(append.merged).flatMap(_.files)
    case _ => if (writesAllCells) placed.spanning else Nil
  }

  private def writesAllCells: Boolean = plan match {
    case GrowthPlan.Merge(cells) => cells.size == ref.layout.files
    case _ => false
  }

  /** Whether heavy values may keep all their files: every cell is written, and nothing else lies there. */
  private def startsEmpty: Boolean = writesAllCells && placed.settled.isEmpty

  /** The files to write, and per file number of the layout the place of its file among them. */
  private def outputs: (IndexedSeq[OutputFile], IndexedSeq[Int]) = plan match {
    case GrowthPlan.Merge(cells) =>
      val sorted = cells.toIndexedSeq.sorted
      val place = sorted.zipWithIndex.toMap
      (
        sorted.map(n => OutputFile(placed.directory, OutputFiles.InPlace, n, n + 1)),
        (0 until ref.layout.files).map(place.getOrElse(_, 0)))
    case append: GrowthPlan.Append =>
      (OutputFiles.appended(placed.directory, append).each, append.fileOf.toIndexedSeq)
    case GrowthPlan.Refit => throw new IllegalStateException("a refit is no increment")
  }

  /** What was done, and the numbers that decided it. */
  def summary(options: RunOptions): String = placed.later match {
    case Some(later) => thinnedSummary(later, options.deletedShare)
    case None => newSummary(options.writeBudget)
  }

  private def thinnedSummary(later: Seq[DataFile], share: Double): String = {
    val after = if (later.isEmpty) "" else s", and ${HumanReadable.files(later)} will follow"
    s"More than ${HumanReadable.percent(share)} (deletedShare) of the rows of ${HumanReadable.files(placed.fresh)} are " +
      s"deleted: they are written again without those$after."
  }

  private def newSummary(budget: Double): String = {
    val where = if (placed.directory.isEmpty) "" else s" of ${placed.directory}"
    val count = HumanReadable.files(placed.fresh)
    val amplification = HumanReadable.tenths(growth.amplification)
    plan match {
      case GrowthPlan.Merge(cells) =>
        s"$count$where fell into ${cells.size} of ${ref.layout.files} cells and were merged there, $amplification " +
          s"bytes written per byte appended (writeBudget is ${HumanReadable.tenths(budget)})."
      case append: GrowthPlan.Append =>
        val before = if (spanning.isEmpty) "" else s", with ${HumanReadable.files(spanning)} of earlier runs,"
        s"$count$where lie across the cells, and merging them would write $amplification bytes per byte appended " +
          s"(writeBudget is ${HumanReadable.tenths(budget)}): in layout order they are$before " +
          s"${HumanReadable.count(append.files.toLong, "file")} of their own."
      case GrowthPlan.Refit => s"The partition$where is clustered anew."
    }
  }
}

private[run] object GrowingPartition {

  /** One output for each cell that is merged, or for each file that is appended, over all partitions. */
  def outputs(growing: Seq[GrowingPartition]): OutputFiles = {
    val each = growing.map(_.outputs)
    val before = each.scanLeft(0)(_ + _._1.length)
    OutputFiles.some(
      each.flatMap(_._1).toIndexedSeq,
      each.zip(before).flatMap { case ((_, outputOf), n) => outputOf.map(_ + n) }.toIndexedSeq,
      spread = growing.forall(_.startsEmpty))
  }
}

package org.apache.spark.sql.zorder.clustering.plan

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.clustering.fit.{CountedSample, LayoutForecast}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * A partition with new files, the layout that it keeps, and what happens to its new rows.
 *
 * @param counted
 *   the new rows by file number of the layout
 * @param own
 *   the layout that a sorted run is cut by, where `ref` hardly tells its rows apart; it is not kept
 */
final private[clustering] case class GrowingPartition(
    placed: PlacedPartition,
    ref: LayoutRef,
    counted: CountedSample,
    growth: Growth,
    plan: GrowthPlan,
    own: Option[LayoutRef] = None) {

  /** The layout whose file numbers the rows get that are written. */
  def cutBy: LayoutRef = own.getOrElse(ref)

  /** The files of earlier runs that are written again: those of the cells, and of those across cells some. */
  def rewritten: Seq[DataFile] = plan match {
    case GrowthPlan.Merge(cells) =>
      cells.toSeq.sorted.flatMap(placed.inLayout.getOrElse(_, Nil)) ++ mergedRunFiles
    case _ => mergedRunFiles
  }

  /** The files whose rows move: new ones, and those across cells that are written again. */
  def moved: Seq[DataFile] = placed.newFiles ++ mergedRunFiles

  /** The files of sorted runs that are written again: all of them if all cells are. */
  private def mergedRunFiles: Seq[DataFile] = plan match {
    case append: GrowthPlan.Append => placed.sortedRuns.takeRight(append.merged).flatMap(_.files)
    case _ => if (writesAllCells) placed.sortedRunFiles else Nil
  }

  private def writesAllCells: Boolean = plan match {
    case GrowthPlan.Merge(cells) => cells.size == ref.layout.files
    case _ => false
  }

  /** Whether heavy values may keep all their files: every file that rows may come to is written anew. */
  def spreadsHeavy: Boolean = own.isDefined || writesAllCells && placed.inLayout.isEmpty

  /** The files to write, and per file number of `cutBy` the place of its file among them. */
  private def outputs: (IndexedSeq[OutputFile], IndexedSeq[Int]) = plan match {
    case GrowthPlan.Merge(cells) =>
      val sorted = cells.toIndexedSeq.sorted
      (
        sorted.map(OutputPlan.inLayout(placed.directory, _)),
        OutputPlan.nearest(sorted, ref.layout.files))
    case append: GrowthPlan.Append =>
      own match {
        case Some(layout) => ownOutputs(layout)
        case None => (OutputPlan.sortedRun(placed.directory, append).each, append.fileOf.toIndexedSeq)
      }
    case GrowthPlan.Refit => throw new IllegalStateException("a refit is no increment")
  }

  /**
   * Files of a layout of their own span those file numbers of the partition's that their sampled rows have.
   */
  private def ownOutputs(own: LayoutRef): (IndexedSeq[OutputFile], IndexedSeq[Int]) = {
    val clustering = counted.sample.select(own.layout.columns.indices)
    val spans = LayoutForecast.files(clustering, own.layout).zip(counted.number).groupBy(_._1)
      .map { case (file, rows) => file -> rows.map(_._2) }
    val all = counted.rows.indices.filter(counted.rows(_) > 0).toArray
    val each = (0 until own.layout.files).map { file =>
      val numbers = spans.getOrElse(file, all)
      OutputFile(placed.directory, OutputPlan.InSortedRun, numbers.min, numbers.max + 1)
    }
    (each, each.indices)
  }

  /** What was done, and the numbers that decided it. */
  def summary(options: RunOptions): String = placed.newFilesAfter match {
    case Some(newFilesAfter) => deletesSummary(newFilesAfter, options.deletedShare)
    case None => newSummary(options.writeBudget)
  }

  private def deletesSummary(newFilesAfter: Seq[DataFile], share: Double): String = {
    val after = if (newFilesAfter.isEmpty) "" else s", and ${HumanReadable.files(newFilesAfter)} will follow"
    s"More than ${HumanReadable.percent(share)} (deletedShare) of the rows of ${HumanReadable.files(placed.newFiles)} are " +
      s"deleted: they are written again without those$after."
  }

  private def newSummary(budget: Double): String = {
    val where = if (placed.directory.isEmpty) "" else s" of ${placed.directory}"
    val count = HumanReadable.files(placed.newFiles)
    val amplification = HumanReadable.tenths(growth.amplification)
    plan match {
      case GrowthPlan.Merge(cells) =>
        s"$count$where fell into ${cells.size} of ${ref.layout.files} cells and were merged there, $amplification " +
          s"bytes written per byte appended (writeBudget is ${HumanReadable.tenths(budget)})."
      case append: GrowthPlan.Append =>
        val before = if (mergedRunFiles.isEmpty) ""
        else s", with ${HumanReadable.files(mergedRunFiles)} of earlier runs,"
        val order = if (own.isDefined) "by a layout fitted on them alone" else "in layout order"
        val unmerged =
          if (growth.amplification > budget)
            s"their rows belong to many cells, and merging them would write $amplification bytes per byte appended " +
              s"(writeBudget is ${HumanReadable.tenths(budget)})"
          else "the cells of their rows would become twice as large as files of a new layout, or larger"
        s"$count$where: $unmerged; $order they are$before " +
          s"${HumanReadable.count(own.fold(append.files)(_.layout.files).toLong, "file")} of their own."
      case GrowthPlan.Refit => s"The partition$where is clustered anew."
    }
  }
}

private[clustering] object GrowingPartition {

  /** One output for each cell that is merged, or for each file that is appended, over all partitions. */
  def outputs(growing: Seq[GrowingPartition]): OutputPlan = {
    val each = growing.map(_.outputs)
    val before = each.scanLeft(0)(_ + _._1.length)
    OutputPlan.some(
      each.flatMap(_._1).toIndexedSeq,
      each.zip(before).flatMap { case ((_, outputOf), n) => outputOf.map(_ + n) }.toIndexedSeq,
      spread = growing.forall(_.spreadsHeavy))
  }
}

/** What happens to the new rows of one partition. */
sealed private[clustering] trait GrowthPlan {

  /** Whether rows may come to the file of this number. */
  def touches(file: Int): Boolean = true
}

private[clustering] object GrowthPlan {

  /**
   * They are written into their cells, together with the files that hold these.
   *
   * @param cells
   *   file numbers
   */
  final case class Merge(cells: Set[Int]) extends GrowthPlan {
    override def touches(file: Int): Boolean = cells(file)
  }

  /**
   * They become files of their own, across cells: in layout order, or cut by a layout of their own.
   *
   * @param fileOf
   *   the file of each file number of the layout, from 0
   * @param bytes
   *   of all rows that are written
   * @param merged
   *   how many of the newest runs that appended are written again with the new rows
   * @param newLayoutFiles
   *   files that so many bytes make in a new layout; 0: not known
   */
  final case class Append(fileOf: Array[Int], bytes: Long, merged: Int, newLayoutFiles: Int = 0)
      extends GrowthPlan {
    def files: Int = fileOf.last + 1

    /** Whether the layout tells so few of the rows apart that files would be far larger than usual ones. */
    def tooLarge: Boolean = newLayoutFiles > Oversize * files

    /** Files of a layout that is fitted on the rows alone. */
    def filesOfOwn: Int = if (tooLarge) newLayoutFiles else files

    /** Appends a part of the new rows, of `some` bytes: files of the same size, so fewer of them. */
    def part(some: Long): Append = {
      val fewer = math.max(1, math.round(files * math.min(1.0, some.toDouble / math.max(1L, bytes))).toInt)
      Append(fileOf.map(f => (f.toLong * fewer / files).toInt), some, merged)
    }
  }

  /** Cells take in new rows until they are twice as large as usual files, files across cells a bit more. */
  private val Oversize = 3

  /** The whole partition is clustered anew. */
  case object Refit extends GrowthPlan
}

/**
 * How a partition has grown since its layout was fitted.
 *
 * @param cellBytes
 *   bytes of the files of each file number
 * @param rows
 *   new rows by file number
 * @param sortedRuns
 *   what earlier runs appended and did not merge into the cells (level 1), the oldest first
 * @param hurts
 *   whether look-ups read noticeably more because of these and the new rows
 * @param newLayoutFiles
 *   files that a new layout of all rows would have; 0: not known
 */
final private[clustering] case class Growth(
    cellBytes: Array[Long],
    rows: Array[Long],
    newBytes: Long,
    sortedRuns: Seq[SortedRun],
    hurts: () => Boolean,
    newLayoutFiles: Int = 0) {
  private val grownBytes = newBytes + sortedRuns.map(_.bytes).sum
  private val mostAcross = Tiers.mostAcross(rows.length, newLayoutFiles)

  private def touched: Seq[Int] = rows.indices.filter(rows(_) > 0)

  /** Bytes that a merge into the cells writes per byte appended. */
  def amplification: Double = {
    (newBytes + touched.map(cellBytes(_)).sum).toDouble / math.max(1L, newBytes)
  }

  /** Bytes written per byte appended since the last rewrite, if the whole partition is rewritten. */
  private def refitAmplification: Double = (grownBytes + cellBytes.sum).toDouble / math.max(1L, grownBytes)

  /**
   * Merges into the cells while that is within the budget and they have room. Otherwise appends, together
   * with what was appended before if that is not much more, until look-ups suffer and writing everything anew
   * is within what the budget has left for it. A partition that doubles has outgrown its layout.
   *
   * @param budget
   *   bytes written per byte appended
   * @param isWhole
   *   whether the statement takes the whole partition
   * @param gains
   *   false after a new layout was tried and gained too little
   */
  def decide(budget: Double, isWhole: Boolean = true, gains: Boolean = true): GrowthPlan = {
    val mayRefit = isWhole && gains
    if (mayRefit && (hasDoubled || outgrown(budget))) GrowthPlan.Refit
    else if (cellBytes.forall(_ == 0)) GrowthPlan.Merge(rows.indices.toSet) // nothing else lies there
    else if (rows.sum == 0) GrowthPlan.Merge(Set(cellBytes.indexOf(cellBytes.min)))
    else if (amplification <= budget && hasRoom) GrowthPlan.Merge(touched.toSet)
    else if (mayRefit && refitAmplification <= Tiers.refitBudget(budget) && (crowded || hurts()))
      GrowthPlan.Refit
    else append(if (isWhole) budget else 0.0)
  }

  /**
   * Whether the new rows have made more than the cells have, or as much once more. A partition that is larger
   * already has stayed in its layout, since a new one gains nothing: it is tried at each doubling, and not by
   * every run, which would read a sample of all rows for it.
   */
  private def hasDoubled: Boolean = {
    val (cells, before) = (cellBytes.sum, sortedRuns.map(_.bytes).sum)
    def doublings(bytes: Long): Int = 63 - java.lang.Long.numberOfLeadingZeros(bytes / cells)
    grownBytes > cells && (cells == 0 || before <= cells || doublings(grownBytes) > doublings(before))
  }

  /**
   * Whether files have become so large that a new layout has twice as many, where writing everything anew is
   * within what a merge may write. Cells that new rows are merged into would grow without end.
   */
  private def outgrown(budget: Double): Boolean =
    newLayoutFiles >= 2 * rows.length && totalBytes <= budget * newBytes

  /**
   * Whether no cell becomes more than twice as large as the files of a new layout. Rows in the order of time
   * fall into the outermost cells, which would take in all that ever comes.
   */
  private def hasRoom: Boolean = newLayoutFiles == 0 || {
    val all = rows.sum
    touched.forall { cell =>
      val added = newBytes.toDouble * rows(cell) / all
      cellBytes(cell) + added <= 2.0 * totalBytes / newLayoutFiles
    }
  }

  private val totalBytes: Long = grownBytes + cellBytes.sum

  /** Whether the files across cells are about as many as there may be. */
  private def crowded: Boolean = RowsTogether(0).crowded

  private def append(budget: Double): GrowthPlan.Append = {
    val merged = together(budget)
    import merged.{again, byCell, bytes, files, staying}
    GrowthPlan.Append(
      SortedRunCuts(byCell, Tiers.within(mostAcross - staying, files)),
      bytes,
      again.length,
      (bytes.toDouble * newLayoutFiles / math.max(1L, totalBytes)).toInt)
  }

  /** Older runs are merged with new rows while they are not much larger than these, and can be cut. */
  private def together(budget: Double): RowsTogether = {
    def merging(so: RowsTogether): RowsTogether =
      so.stay.lastOption.filter(_.bytes <= Tiers.largestWith(so.bytes, so.crowded, budget))
        .map(_ => RowsTogether(so.again.length + 1)).filter(_.canBeCut).fold(so)(merging)
    if (Tiers.mergesAt(budget)) merging(RowsTogether(0)) else RowsTogether(0)
  }

  /** New rows with those of so many of the newest runs that appended. */
  private case class RowsTogether(runs: Int) {
    val (stay, again) = sortedRuns.splitAt(sortedRuns.length - runs)
    val bytes: Long = newBytes + again.map(_.bytes).sum

    lazy val byCell: IndexedSeq[Long] = rowsWith(again)

    private def cells: Int = byCell.count(_ > 0)

    def files: Int = Tiers.files(bytes, totalBytes, rows.length, cells)

    /** The files across cells that are not merged. */
    def staying: Int = stay.map(_.spans.length).sum

    def crowded: Boolean = staying + files > mostAcross

    /**
     * Whether files in their cells are no larger than cells (ADR 72). Rows in the order of time lie in few:
     * to merge more of them only spans more time.
     */
    def canBeCut: Boolean = bytes.toDouble * rows.length <= totalBytes.toDouble * cells
  }

  /** New rows and those of earlier runs by file number; the latter as far as their files tell. */
  private def rowsWith(again: Seq[SortedRun]): IndexedSeq[Long] = {
    val sum = rows.clone()
    val rowsPerByte = rows.sum.toDouble / math.max(1L, newBytes)
    for (a <- again; (file, from, until) <- a.spans) {
      // where new rows come to is where the rows before them are likely to lie
      val likely = (from until until).filter(rows(_) > 0)
      val (numbers, weights) =
        if (likely.nonEmpty) (likely, likely.map(rows(_).toDouble)) else (Seq(from), Seq(1.0))
      val (all, weight) = (file.length * rowsPerByte, weights.sum)
      numbers.zip(weights).foreach { case (n, w) => sum(n) += math.round(all * w / weight) }
    }
    sum.toIndexedSeq
  }
}

/**
 * Which of the files across cells are merged with new rows, and into how many files. The constants are those
 * of simulations (ADR 45, ADR 71): `GrowthOverTimeSuite` holds what look-ups then read beside `FULL`, what is
 * written, and how many files there are, for appends of 1 to 10 % and for a table that grows from nothing.
 */
private object Tiers {

  /** Older files are merged while they are at most so many times as large as what is merged with them. */
  private val Factor = 2.0

  /**
   * All files, as a multiple of those of a new layout, beyond which more of those across cells are merged.
   */
  private val MostFiles = 3

  /** Files of a merge of all rows, as a multiple of the layout's files; others by the root of their share. */
  private val FilesOfAll = 2.0

  /** No file is smaller than this share of a usual file just to span less. */
  private val SmallestFile = 1.0 / 16

  /** The bytes of equal rows differ by so much. */
  private val Compression = 1.05

  /**
   * What merges among files across cells cost in all, as a share of the budget; the rest is for writing anew.
   */
  private val Share = 1.0 / 3

  /** With a smaller budget, new rows are written once and not merged until the partition is rewritten. */
  private val LeastBudget = 5.0

  /**
   * Files across cells beyond which more of them are merged.
   *
   * @param newLayoutFiles
   *   files that a new layout of all rows would have; 0: not known
   */
  def mostAcross(cells: Int, newLayoutFiles: Int): Int =
    math.max(cells / 2, MostFiles * (if (newLayoutFiles > 0) newLayoutFiles else cells) - cells)

  /** Bytes that writing everything anew may cost per byte appended since the last time. */
  def refitBudget(budget: Double): Double =
    if (mergesAt(budget)) budget * (1 - Share) else budget - 1

  /** Whether the budget has room for merges among files across cells. */
  def mergesAt(budget: Double): Boolean = budget >= LeastBudget

  /**
   * Bytes of the largest run that is merged with so many; the budget decides while there are too many files.
   */
  def largestWith(bytes: Long, crowded: Boolean, budget: Double): Double =
    (if (crowded) budget else Factor) * Compression * bytes

  /**
   * Files of a merge: a power of two, so that they end where the layout itself is cut.
   *
   * @param cells
   *   files of the layout
   * @param among
   *   those of them that the rows lie in
   */
  def files(bytes: Long, total: Long, cells: Int, among: Int): Int = {
    val share = bytes.toDouble / math.max(1L, total)
    val wanted = math.min(FilesOfAll * math.sqrt(share), share / SmallestFile) * cells
    powerOfTwo(math.round(log2(math.max(1.0, wanted))).toInt, among)
  }

  /** So many files, or half of them where there is no room: a single file would span everything. */
  def within(room: Int, files: Int): Int =
    math.min(files, math.max(files / 2, powerOfTwo(log2(math.max(1.0, room)).toInt, files)))

  private def log2(x: Double): Double = math.log(x) / math.log(2) + 1e-9

  private def powerOfTwo(bits: Int, most: Int): Int = math.max(1, math.min(most, 1 << math.min(30, bits)))
}

/**
 * Joins consecutive file numbers to files whose rows lie in small boxes: halves the numbers where a layout of
 * evenly filled cells is halved itself, as long as no side gets much more than half of the rows. A cut one
 * number further would often double the box of a file.
 */
private object SortedRunCuts {

  /** The lesser side of a cut has at least this share of the rows, if any cut has it. */
  private val Least = 0.4

  /**
   * @param rows
   *   by file number, not all zero
   * @param files
   *   wanted; fewer if there are fewer numbers with rows
   * @return
   *   the file of each number: rising from 0 without gaps, each with rows
   */
  def apply(rows: IndexedSeq[Long], files: Int): Array[Int] = {
    val before = rows.scanLeft(0L)(_ + _)
    val depth = depths(rows.length)
    def held(from: Int, until: Int): Long = before(until) - before(from)

    def cut(from: Int, until: Int): Option[Int] = {
      val possible = (from + 1 until until).filter(c => held(from, c) > 0 && held(c, until) > 0)
      val lesser = possible.map(c => c -> math.min(held(from, c), held(c, until))).toMap
      val even = possible.filter(lesser(_) >= Least * held(from, until))
      if (even.nonEmpty) Some(even.minBy(c => (depth(c), -lesser(c))))
      else if (possible.nonEmpty) Some(possible.maxBy(lesser))
      else None
    }

    def starts(from: Int, until: Int, parts: Int): Seq[Int] =
      if (parts <= 1) Seq(from)
      else
        cut(from, until).fold(Seq(from)) { c =>
          starts(from, c, parts - parts / 2) ++ starts(c, until, parts / 2)
        }

    val first = starts(0, rows.length, files).toSet
    rows.indices.scanLeft(-1)((file, n) => if (first(n)) file + 1 else file).tail.toArray
  }

  /** How often a range of numbers is halved until a number begins a part. */
  private def depths(numbers: Int): IndexedSeq[Int] = {
    val depth = Array.fill(numbers)(0)
    def halve(from: Int, until: Int, level: Int): Unit = if (until - from > 1) {
      val middle = (from + until) / 2
      depth(middle) = level
      halve(from, middle, level + 1)
      halve(middle, until, level + 1)
    }
    halve(0, numbers, 1)
    depth.toIndexedSeq
  }
}

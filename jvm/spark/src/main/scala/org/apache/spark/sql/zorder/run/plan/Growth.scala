package org.apache.spark.sql.zorder.run.plan

/** What happens to the new rows of one partition. */
sealed private[run] trait GrowthPlan {

  /** Whether rows may come to the file of this number. */
  def touches(file: Int): Boolean = true
}

private[run] object GrowthPlan {

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
   * They become files of their own, in layout order, across cells.
   *
   * @param fileOf
   *   the file of each file number of the layout, from 0
   * @param bytes
   *   of all rows that are written
   * @param merged
   *   how many of the newest runs that appended are written again with the new rows
   */
  final case class Append(fileOf: Array[Int], bytes: Long, merged: Int = 0) extends GrowthPlan {
    def files: Int = fileOf.last + 1

    /** For a part of the new rows, of `some` bytes: files of the same size, so fewer of them. */
    def part(some: Long): Append = {
      val fewer = math.max(1, math.round(files * math.min(1.0, some.toDouble / math.max(1L, bytes))).toInt)
      Append(fileOf.map(f => (f.toLong * fewer / files).toInt), some, merged)
    }
  }

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
 * @param appended
 *   what earlier runs appended and did not merge into the cells, the oldest first
 * @param hurts
 *   whether look-ups read noticeably more because of these and the new rows
 */
final private[run] case class Growth(
    cellBytes: Array[Long],
    rows: Array[Long],
    freshBytes: Long,
    appended: Seq[AppendedFiles],
    hurts: Boolean) {
  private val tiers = appended.map(a => (a.bytes, a.spans.length))
  private val grownBytes = freshBytes + tiers.map(_._1).sum

  /** Bytes that a merge into the cells writes per byte appended. */
  def amplification: Double = {
    val touched = rows.indices.filter(rows(_) > 0).map(cellBytes(_)).sum
    (freshBytes + touched).toDouble / math.max(1L, freshBytes)
  }

  /** The same if the whole partition is written anew, for all that was appended since the last time. */
  def refitAmplification: Double = (grownBytes + cellBytes.sum).toDouble / math.max(1L, grownBytes)

  /**
   * Merges into the cells while that is within the budget. Otherwise appends, together with what was appended
   * before if that is not much more, until look-ups suffer and writing everything anew is within what the budget
   * has left for it. A partition that has doubled has outgrown its layout.
   *
   * @param budget
   *   bytes written per byte appended
   * @param mayRefit
   *   whether the statement takes the whole partition
   */
  def decide(budget: Double, mayRefit: Boolean = true): GrowthPlan =
    if (mayRefit && grownBytes > cellBytes.sum) GrowthPlan.Refit
    else if (cellBytes.forall(_ == 0)) GrowthPlan.Merge(rows.indices.toSet) // nothing else lies there
    else if (rows.sum == 0) GrowthPlan.Merge(Set(cellBytes.indexOf(cellBytes.min)))
    else if (amplification <= budget) GrowthPlan.Merge(rows.indices.filter(rows(_) > 0).toSet)
    else if (mayRefit && refitAmplification <= Tiers.refitBudget(budget) && (hurts || crowded))
      GrowthPlan.Refit
    else append(if (mayRefit) budget else 0.0)

  /** Whether the files across cells are about as many as there may be. */
  private def crowded: Boolean =
    tiers.map(_._2).sum + Tiers.files(freshBytes, totalBytes, rows.length) > Tiers.MostFiles * rows.length

  private def totalBytes: Long = grownBytes + cellBytes.sum

  private def append(budget: Double): GrowthPlan.Append = {
    val merged = Tiers.merged(tiers, freshBytes, cellBytes.sum, rows.length, budget)
    val (stay, again) = appended.splitAt(appended.length - merged)
    val bytes = freshBytes + again.map(_.bytes).sum
    val files = Tiers.files(bytes, totalBytes, rows.length, stay.map(_.spans.length).sum)
    GrowthPlan.Append(SpanningCuts(rowsWith(again), files), bytes, merged)
  }

  /** New rows and those of earlier runs by file number; the latter as far as their files tell. */
  private def rowsWith(again: Seq[AppendedFiles]): IndexedSeq[Long] = {
    val sum = rows.clone()
    val rowsPerByte = rows.sum.toDouble / math.max(1L, freshBytes)
    for (a <- again; (file, from, until) <- a.spans) {
      // where new rows come to is where the rows before them are likely to lie
      val likely = (from until until).filter(rows(_) > 0)
      val (among, weights) =
        if (likely.nonEmpty) (likely, likely.map(rows(_).toDouble)) else (Seq(from), Seq(1.0))
      val all = file.length * rowsPerByte
      among.zip(weights).foreach { case (n, w) => sum(n) += math.round(all * w / weights.sum) }
    }
    sum.toIndexedSeq
  }
}

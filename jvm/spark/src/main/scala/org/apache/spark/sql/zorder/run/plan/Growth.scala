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
   *   of all new rows
   */
  final case class Append(fileOf: Array[Int], bytes: Long) extends GrowthPlan {
    def files: Int = fileOf.last + 1

    /** For a part of the new rows, of `some` bytes: files of the same size, so fewer of them. */
    def part(some: Long): Append = {
      val fewer = math.max(1, math.round(files * math.min(1.0, some.toDouble / math.max(1L, bytes))).toInt)
      Append(fileOf.map(f => (f.toLong * fewer / files).toInt), some)
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
 * @param spanningBytes
 *   bytes that were appended before and not merged
 * @param spanningHurts
 *   whether look-ups read noticeably more because of these
 */
final private[run] case class Growth(
    cellBytes: Array[Long],
    rows: Array[Long],
    freshBytes: Long,
    spanningBytes: Long,
    spanningHurts: Boolean) {

  /** Bytes that a merge writes per byte appended. */
  def amplification: Double = {
    val touched = rows.indices.filter(rows(_) > 0).map(cellBytes(_)).sum
    (freshBytes + touched).toDouble / math.max(1L, freshBytes)
  }

  /** The same if the whole partition is written anew, for all that was appended since the last time. */
  def refitAmplification: Double = {
    val appended = freshBytes + spanningBytes
    (appended + cellBytes.sum).toDouble / math.max(1L, appended)
  }

  /**
   * Merges while that is within the budget. Otherwise appends, until look-ups suffer and so much was appended that
   * writing everything anew is within the budget. A partition that has doubled has outgrown its layout.
   *
   * @param budget
   *   bytes written per byte appended
   * @param mayRefit
   *   whether the statement takes the whole partition
   */
  def decide(budget: Double, mayRefit: Boolean = true): GrowthPlan =
    if (mayRefit && freshBytes + spanningBytes > cellBytes.sum) GrowthPlan.Refit
    else if (cellBytes.forall(_ == 0)) GrowthPlan.Merge(rows.indices.toSet) // nothing else lies there
    else if (rows.sum == 0) GrowthPlan.Merge(Set(cellBytes.indexOf(cellBytes.min)))
    else if (amplification <= budget) GrowthPlan.Merge(rows.indices.filter(rows(_) > 0).toSet)
    else if (mayRefit && refitAmplification <= budget && spanningHurts) GrowthPlan.Refit
    else GrowthPlan.Append(fileOf, freshBytes)

  /** Joins consecutive file numbers until a file has about as many bytes as the files of the partition. */
  private def fileOf: Array[Int] = {
    val usual = cellBytes.sum / math.max(1, cellBytes.count(_ > 0))
    val files = math.max(1, math.round(freshBytes.toDouble / math.max(1L, usual)).toInt)
    val total = math.max(1L, rows.sum)
    val before = rows.scanLeft(0L)(_ + _)
    val wanted = rows.indices.map(i => ((before(i) + rows(i) / 2) * files / total).toInt.min(files - 1))
    // numbers without gaps, though a cell may hold more rows than a file
    val held = rows.indices.filter(rows(_) > 0).map(wanted(_)).distinct
    wanted.map(w => math.max(0, held.lastIndexWhere(_ <= w))).toArray
  }
}

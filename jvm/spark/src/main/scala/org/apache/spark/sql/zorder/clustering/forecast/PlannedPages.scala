package org.apache.spark.sql.zorder.clustering.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.clustering.plan.FilePlan
import org.apache.spark.sql.zorder.stats.FileFooter
import sparkzorder.curve.{NormalizedBytes, Zone}
import sparkzorder.curve.page.{PageCut, PagePlan}

/** The pages and row groups that the writer of a rewrite will make. */
private[clustering] object PlannedPages {

  /** The writer of a run ends a page at so many bytes, encoded or not, whatever its rows are: Parquet's default. */
  val PageBytes: Int = 1 << 20

  /** Means may be exceeded: rows are counted so that this part of the bytes is filled. */
  private val Filled = 0.8

  /** Bytes before a string. */
  private val LengthBytes = 4

  /**
   * Rows of the pages of the clustering columns, and of row groups by the bytes that the input has per row.
   *
   * @param whole
   *   whether every file of the planned partitions is written anew, so that the rows of a file are known
   */
  def of(
      input: Inspection,
      tracked: TrackedColumns,
      plan: FilePlan,
      options: RunOptions,
      whole: Boolean): PageCut = {
    val most = math.min(options.pageRowLimit.toDouble, PageBytes * Filled / valueBytes(input, tracked, plan))
    val mostPage = math.max(1, most.toInt)
    val files = if (whole) plan.partitions.map(p => input.rows(p.partition).toDouble / p.files) else Nil
    val rowGroups = RowGroupRows(input.footersOf(plan))
    def byBytes(pageRows: Int) = PageCut(pageRows.toDouble, rowGroups.of(input.rowGroupBytes, pageRows))
    if (!input.ordersPages) byBytes(options.pageRowLimit)
    else if (input.countsRowGroups)
      PagePlan.counted(files, mostPage, rowGroups.of(input.rowGroupBytes, mostPage))
    else byBytes(PagePlan.rows(files, mostPage))
  }

  /** Bytes of a value of the widest clustering column, by the bounds of the files. */
  private def valueBytes(input: Inspection, tracked: TrackedColumns, plan: FilePlan): Double = {
    val blocks = tracked.levels(input.footersOf(plan), input.statistics.columns).files
    val widths = tracked.clustering.indices.map { c =>
      val each = blocks.map(_.zones(c)).collect {
        case Zone.Between(NormalizedBytes(min), NormalizedBytes(max)) =>
          (min.length + max.length) / 2.0 + LengthBytes
      }
      if (each.isEmpty) 8.0 else each.sum / each.length
    }
    widths.max
  }
}

/**
 * How many rows Parquet's writer puts into a row group. It ends one when what it holds in memory reaches the
 * limit: full pages are compressed there already, the page that is being filled takes its raw bytes even
 * where a dictionary will encode it, and dictionaries do not count. It does not look after every row, but
 * half of the way to where the limit would be reached (`InternalParquetRecordWriter.checkBlockSizeReached`).
 *
 * @param written
 *   bytes of a row in a file, without dictionaries
 * @param buffered
 *   raw bytes of a row, not fewer than `written`
 */
final private case class RowGroupRows(written: Double, buffered: Double) {

  /** Rows of a row group of at most so many bytes, whose pages have `pageRows` rows. */
  def of(limit: Long, pageRows: Int): Double =
    if (written <= 0.0) Double.MaxValue
    else {
      var rows = RowGroupRows.LeastBetween
      var bytes = held(rows, pageRows)
      // the writer counts in whole bytes a row, and what follows depends on it
      def looksRarely = bytes >= rows && rows < Int.MaxValue
      while (bytes <= limit - 2 * (bytes / rows) && looksRarely) {
        val wouldFill = limit / (bytes / rows)
        rows = math.min(math.max(rows + 1, (rows + wouldFill) / 2), rows + RowGroupRows.MostBetween)
        bytes = held(rows, pageRows)
      }
      // below a byte a row it looks after each row, and ends where the limit is
      if (looksRarely) rows.toDouble else math.max(rows.toDouble, limit / written)
    }

  /** Bytes in memory when so many rows have been written. */
  private def held(rows: Long, pageRows: Int): Long = {
    val full = rows / pageRows * pageRows
    (full * written + (rows - full) * buffered).toLong
  }
}

private object RowGroupRows {

  /** Rows between two looks (`parquet.page.size.row.check.min` and `.max`). */
  private val LeastBetween = 100L
  private val MostBetween = 10000L

  /** Rows of a row group in the given files. */
  def apply(footers: Seq[FileFooter]): RowGroupRows = {
    val rows = math.max(1L, footers.map(_.rows).sum).toDouble
    val groups = footers.flatMap(_.rowGroups)
    val written = groups.map(g => g.compressedBytes - g.dictionaryBytes).sum / rows
    RowGroupRows(written, math.max(written, groups.map(_.rawBytes).sum / rows))
  }
}

package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.stats.FileFooter

/**
 * How many rows Parquet's writer puts into a row group. It ends one when what it holds in memory reaches the limit:
 * full pages are compressed there already, the page that is being filled takes its raw bytes even where a
 * dictionary will encode it, and dictionaries do not count. It does not look after every row, but half of the way to
 * where the limit would be reached (`InternalParquetRecordWriter.checkBlockSizeReached`).
 *
 * @param written
 *   bytes of a row in a file, without dictionaries
 * @param buffered
 *   raw bytes of a row, not fewer than `written`
 */
final private[forecast] case class RowGroupRows(written: Double, buffered: Double) {

  /** Rows of a row group of at most so many bytes, whose pages have `pageRows` rows. */
  def of(limit: Long, pageRows: Int): Double =
    if (written <= 0.0) Double.MaxValue
    else {
      var rows = RowGroupRows.LeastBetween
      var bytes = held(rows, pageRows)
      // the writer counts in whole bytes a row, and what follows depends on it
      while (bytes <= limit - 2 * (bytes / rows)) {
        val wouldFill = limit / math.max(1L, bytes / rows)
        rows = math.min(math.max(rows + 1, (rows + wouldFill) / 2), rows + RowGroupRows.MostBetween)
        bytes = held(rows, pageRows)
      }
      rows.toDouble
    }

  /** Bytes in memory when so many rows have been written. */
  private def held(rows: Long, pageRows: Int): Long = {
    val full = rows / pageRows * pageRows
    (full * written + (rows - full) * buffered).toLong
  }
}

private[forecast] object RowGroupRows {

  /** Rows between two looks (`parquet.page.size.row.check.min` and `.max`). */
  private val LeastBetween = 100L
  private val MostBetween = 10000L

  /** As the files have them. */
  def apply(footers: Seq[FileFooter]): RowGroupRows = {
    val rows = math.max(1L, footers.map(_.rows).sum).toDouble
    val groups = footers.flatMap(_.rowGroups)
    val written = groups.map(g => g.compressedBytes - g.dictionaryBytes).sum / rows
    RowGroupRows(written, math.max(written, groups.map(_.rawBytes).sum / rows))
  }
}

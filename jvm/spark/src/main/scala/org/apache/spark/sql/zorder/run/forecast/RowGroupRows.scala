package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.stats.FileFooter

/**
 * How many rows Parquet's writer puts into a row group. It ends one when what it holds in memory reaches the limit:
 * full pages are compressed there already, the page that is being filled takes its raw bytes even where a
 * dictionary will encode it, and dictionaries do not count.
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
      val fullPages = math.max(0.0, math.ceil((limit - pageRows * buffered) / (pageRows * written)))
      math.max(1.0, fullPages * pageRows + (limit - fullPages * pageRows * written) / buffered)
    }
}

private[forecast] object RowGroupRows {

  /** As the files have them. */
  def apply(footers: Seq[FileFooter]): RowGroupRows = {
    val rows = math.max(1L, footers.map(_.rows).sum).toDouble
    val groups = footers.flatMap(_.rowGroups)
    val written = groups.map(g => g.compressedBytes - g.dictionaryBytes).sum / rows
    RowGroupRows(written, math.max(written, groups.map(_.rawBytes).sum / rows))
  }
}

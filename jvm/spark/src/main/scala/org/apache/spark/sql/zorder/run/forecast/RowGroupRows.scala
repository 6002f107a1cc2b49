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
  private val FixedLength = raw"FIXED_LEN_BYTE_ARRAY\((\d+)\)".r

  /** As the files have them. Strings are taken to be as long raw as they are in the file, for want of their lengths. */
  def apply(footers: Seq[FileFooter]): RowGroupRows = {
    val rows = math.max(1L, footers.map(_.rows).sum).toDouble
    val written = footers.flatMap(_.rowGroups).map(g => g.compressedBytes - g.dictionaryBytes).sum / rows
    val raw = footers.map { f =>
      f.schema.leaves.indices.map { leaf =>
        val width = bytesOfValue(f.schema.leaves(leaf).physical)
        math.max(f.bytes(leaf), (f.values(leaf) - math.max(0L, f.nulls(leaf))) * width)
      }.sum
    }.sum / rows
    RowGroupRows(written, math.max(written, raw))
  }

  private def bytesOfValue(physical: String): Long = physical match {
    case "INT32" | "FLOAT" => 4L
    case "INT64" | "DOUBLE" => 8L
    case "INT96" => 12L
    case FixedLength(n) => n.toLong
    case _ => 0L
  }
}

package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.PageCut
import org.apache.spark.sql.zorder.run.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.FilePlan
import sparkzorder.curve.{BytesWord, Zone}
import sparkzorder.curve.page.PagePlan

/**
 * The pages and row groups that the writer of a rewrite will make.
 *
 * @param pageRows
 *   rows of a full page of the clustering columns
 * @param rowGroupRows
 *   rows of a full row group, by the bytes that the input has per row
 */
final private[run] case class PlannedPages(pageRows: Int, rowGroupRows: Double) {

  /** For the sort of the rewrite. */
  def cut: PageCut = PageCut(pageRows, (PagePlan.OneRowGroup * rowGroupRows).toLong)
}

private[run] object PlannedPages {

  /** Parquet's writer ends a page at so many bytes, encoded or not, whatever its rows are. */
  private val PageBytes = (1 << 20).toDouble

  /** Means may be exceeded: rows are counted so that this part of the bytes is filled. */
  private val Filled = 0.8

  /** Bytes before a string. */
  private val LengthBytes = 4

  /**
   * @param whole
   *   whether every file of the planned partitions is written anew, so that the rows of a file are known
   */
  def of(
      input: Inspection,
      tracked: TrackedColumns,
      plan: FilePlan,
      options: RunOptions,
      whole: Boolean): PlannedPages = {
    val most = math.min(options.pageRowLimit.toDouble, PageBytes * Filled / valueBytes(input, tracked, plan))
    val files = plan.partitions.map(p => input.rows(p.partition).toDouble / p.files)
    val pageRows =
      if (!input.ordersPages) options.pageRowLimit
      else if (whole) PagePlan.rows(files, math.max(1, most.toInt))
      else math.max(1, most.toInt)
    val rowGroupBytes = options.rowGroupSize.getOrElse(input.rowGroupBytes)
    PlannedPages(pageRows, RowGroupRows(input.footersOf(plan)).of(rowGroupBytes, pageRows))
  }

  /** Bytes of a value of the widest clustering column, by the bounds of the files. */
  private def valueBytes(input: Inspection, tracked: TrackedColumns, plan: FilePlan): Double = {
    val blocks = tracked.levels(input.footersOf(plan), input.statistics.columns, Nil).files
    val widths = tracked.clustering.indices.map { c =>
      val each = blocks.map(_.zones(c)).collect { case Zone.Between(BytesWord(min), BytesWord(max)) =>
        (min.length + max.length) / 2.0 + LengthBytes
      }
      if (each.isEmpty) 8.0 else each.sum / each.length
    }
    widths.max
  }
}

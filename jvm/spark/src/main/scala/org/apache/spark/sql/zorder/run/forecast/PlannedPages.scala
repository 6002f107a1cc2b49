package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.run.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.FilePlan
import sparkzorder.curve.{BytesWord, Zone}
import sparkzorder.curve.page.{PageCut, PagePlan}

/** The pages and row groups that the writer of a rewrite will make. */
private[run] object PlannedPages {

  /** Parquet's writer ends a page at so many bytes, encoded or not, whatever its rows are. */
  private val PageBytes = (1 << 20).toDouble

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
    val rowGroupBytes = options.rowGroupSize.getOrElse(input.rowGroupBytes)
    val rowGroups = RowGroupRows(input.footersOf(plan))
    def byBytes(pageRows: Int) = PageCut(pageRows.toDouble, rowGroups.of(rowGroupBytes, pageRows))
    if (!input.ordersPages) byBytes(options.pageRowLimit)
    else if (input.countsRowGroups) PagePlan.counted(files, mostPage, rowGroups.of(rowGroupBytes, mostPage))
    else byBytes(PagePlan.rows(files, mostPage))
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

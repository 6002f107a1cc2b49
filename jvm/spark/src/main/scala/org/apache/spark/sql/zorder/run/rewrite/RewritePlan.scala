package org.apache.spark.sql.zorder.run.rewrite

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.PartitionLayouts
import org.apache.spark.sql.zorder.fit.Levels
import org.apache.spark.sql.zorder.run.forecast.Forecast
import org.apache.spark.sql.zorder.run.inspect.Inspection
import org.apache.spark.sql.zorder.run.plan.{FilePlan, OutputFiles}
import org.apache.spark.sql.zorder.run.report.RunCost
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.table.file.InputRelation
import sparkzorder.curve.page.PageCut

/**
 * One rewrite: which files are read, and which rows of them are written to which files.
 *
 * @param files
 *   the files to rewrite
 * @param layout
 *   what the result says about the layout
 * @param curve
 *   as the statement names it
 * @param pages
 *   the pages of the files to write
 * @param partitionsFinished
 *   partitions that are clustered when this is committed
 * @param kept
 *   blocks that stay beside those that are written, if a run changes a part of a partition
 */
final private[run] case class RewritePlan(
    input: Inspection,
    files: FilePlan,
    source: InputRelation,
    columns: Seq[ClusterColumn],
    routes: PartitionLayouts,
    outputs: OutputFiles,
    layout: String,
    forecast: Forecast,
    pages: PageCut,
    curve: String,
    partitionsFinished: Int,
    sampledRows: Long = 0,
    cost: RunCost = RunCost(),
    kept: Option[Levels] = None) {

  /** Whether the rows of its files are cut at the borders of these pages: where the mean file's are foreseen. */
  def cutsPages: Boolean = input.ordersPages && pages.foresees(rowsPerFile)

  /** How to have pages cut where files have several row groups that the writer cannot count; ends the reason of a result. */
  def rowGroupNote(options: RunOptions): String = {
    val byPages = routes.refs.exists(_.layout.compiled.pageSides.isDefined)
    val bytes = options.rowGroupSize.getOrElse(input.rowGroupBytes) * pages.rowGroupsAFile(rowsPerFile)
    if (!input.ordersPages || !byPages || pages.foresees(rowsPerFile) || bytes > RewritePlan.LargeRowGroup) ""
    else
      " Rows of files with several row groups follow a curve, which pages cut anywhere; WITH (rowGroupSize = " +
        s"'${math.ceil(bytes / (1 << 20)).toLong}m') makes one row group a file, and each page a box."
  }

  private def rowsPerFile: Double = input.rows(files).toDouble / outputs.count

  /** It gathers rows by region, for later steps to put in place. */
  def gathers: Boolean = outputs.each.exists(_.level == OutputFiles.Gathered)
}

private[run] object RewritePlan {

  /** Bytes of a row group that no run proposes: every task that writes holds one. */
  private val LargeRowGroup = (1L << 30).toDouble
}

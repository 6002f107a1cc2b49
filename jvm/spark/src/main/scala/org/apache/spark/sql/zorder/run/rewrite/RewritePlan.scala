package org.apache.spark.sql.zorder.run.rewrite

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.PartitionLayouts
import org.apache.spark.sql.zorder.fit.Levels
import org.apache.spark.sql.zorder.run.forecast.{Forecast, PlannedPages}
import org.apache.spark.sql.zorder.run.inspect.Inspection
import org.apache.spark.sql.zorder.run.plan.{FilePlan, OutputFiles}
import org.apache.spark.sql.zorder.run.report.RunCost
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.table.file.InputRelation

/**
 * One rewrite: which files are read, and which rows of them are written to which files.
 *
 * @param files
 *   the files to rewrite
 * @param layout
 *   what the result says about the layout
 * @param curve
 *   as the statement names it
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
    curve: String,
    partitionsFinished: Int,
    sampledRows: Long = 0,
    cost: RunCost = RunCost(),
    kept: Option[Levels] = None) {

  /** The pages of its files. */
  def pages(options: RunOptions): PlannedPages =
    PlannedPages.of(input, forecast.tracked, files, options, whole = outputs.spread)

  /** It gathers rows by region, for later steps to put in place. */
  def gathers: Boolean = outputs.each.exists(_.level == OutputFiles.Gathered)
}

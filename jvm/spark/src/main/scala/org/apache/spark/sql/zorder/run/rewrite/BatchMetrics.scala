package org.apache.spark.sql.zorder.run.rewrite

import org.apache.spark.sql.zorder.run.report.RunMetrics
import org.apache.spark.sql.zorder.run.request.{Progress, RunContext}
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages}
import org.apache.spark.sql.zorder.table.file.DataFile

/** The numbers of a batch, from the results of its steps. No other place fills in a `RunMetrics`. */
private[run] object BatchMetrics {

  /** Of a batch that has no plan, because it has nothing to do. */
  def unplanned(context: RunContext, considered: Int, skipped: Int): RunMetrics =
    RunMetrics(
      filesConsidered = considered.toLong,
      filesSkipped = skipped.toLong,
      startTimeMs = context.startedMs)

  /** What a plan is going to read and write. Rows and files count when the rows are in their final files. */
  def planned(context: RunContext, considered: Int, plan: RewritePlan): RunMetrics = RunMetrics(
    partitionsOptimized = if (context.table.partitioned) plan.partitionsFinished.toLong else 0,
    filesConsidered = considered.toLong,
    filesSkipped = considered.toLong - plan.files.files.length,
    startTimeMs = context.startedMs,
    rows = if (plan.gathers) 0 else plan.input.rows(plan.files),
    inputBytes = plan.files.files.map(_.length).sum,
    targetFileSize = plan.files.target,
    targetFiles = if (plan.gathers) 0 else plan.outputs.count.toLong,
    sampledRows = plan.sampledRows,
    cost = plan.cost)

  /** The same after the rewrite, by what was read back of the new files. */
  def written(
      context: RunContext,
      considered: Int,
      plan: RewritePlan,
      added: Seq[DataFile],
      footers: Seq[FileFooter],
      pages: Seq[FilePages]): RunMetrics = planned(context, considered, plan).copy(
    added = added,
    removed = if (context.request.into.isDefined) Nil else plan.files.files,
    batches = 1,
    rowGroups = footers.map(_.rowGroups.length.toLong).sum,
    pages = pages.map(_.columns.headOption.fold(0L)(_.length.toLong)).sum)

  /** With the times so far: for the record before the commit, for the answer when the batch ends. */
  def ended(metrics: RunMetrics, progress: Progress): RunMetrics =
    metrics.copy(endTimeMs = System.currentTimeMillis(), stepMs = progress.stepMs)
}

package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.fit.Sample
import org.apache.spark.sql.zorder.run.forecast.{
  CostForecast,
  EnoughFiles,
  FittedLayouts,
  NoGain,
  RewriteForecaster,
  Sampling
}
import org.apache.spark.sql.zorder.run.inspect.{Inspection, ResolvedRequest, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.{FilePlan, OutputFiles}
import org.apache.spark.sql.zorder.run.report.{DryRunReason, RunMetrics, RunStatus}
import org.apache.spark.sql.zorder.run.request.RunContext
import org.apache.spark.sql.zorder.run.rewrite.{RewritePlan, Rewriter}
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.workload.draw.LogBoxes
import sparkzorder.curve.cost.Query

/** The part of a run that fits layouts and forecasts them, and rewrites the files if that gains enough. */
final private[run] class NewLayout(context: RunContext, batches: Batches) {
  import context._

  /**
   * @param batch
   *   what is finished and what is left when the files are rewritten in one commit
   */
  def apply(
      found: ResolvedRequest,
      selected: Selection,
      considered: RunMetrics,
      batch: Batch): BatchResult = {
    val input = progress.step("footers") {
      Inspection(pinned, table, selected, found.statistics, options)
    }(_.said)
    val first = FilePlan(input.partitions, table.partitioned, options, request.into.isDefined, input.rows(_))
    if (input.isEmpty) BatchResult.empty(table.name, "rows", considered).copy(batch = batch)
    else if (first.partitions.isEmpty)
      BatchResult(RunStatus.TooSmall, first.tooSmall + selected.said, considered, batch = batch)
    else {
      val source = input.relation(first)
      val columns = columnsOf(source.plan)
      val footers = input.footersOf(first)
      val tracked = TrackedColumns.of(user, table, source.plan, columns, input.statistics, footers)
      val enough = new EnoughFiles(input, tracked, curve, options)
      val sampled = progress.step("sample") {
        Sampling(pinned, source, tracked.all, enough.most(first), input.rows(first))
      }(_.said)
      val boxes = log.filter(_.queries.nonEmpty).map(l =>
        LogBoxes.drawing(user, source.schema, l, tracked.all.map(_.sql)))
      def queries(sample: Sample) = boxes.fold(Seq.empty[Query])(_(sample).queries)
      val (plan, fitted) = progress.step("fit") {
        val plan = enough.of(first, sampled, queries)
        plan -> FittedLayouts(sampled, columns, plan, input.rows(_), curve, options.pageRowLimit, queries)
      }(_._2.said)
      val outlook = progress.step("forecast") {
        new RewriteForecaster(input, plan, tracked, fitted, options).outlook(pinned, boxes)
      }(_.said)
      val tasks = OutputFiles.of(plan.partitions.map(_.partition.directory), fitted.routes)
      val work = RewritePlan(input, plan, source, columns, fitted.routes, tasks, fitted.said, outlook, curve)
      val steps = new PartitionSteps(context, batches)
      val metrics = planned(considered, work).copy(
        sampledRows = sampled.rows.toLong,
        cost =
          steps.priced(CostForecast.of(pinned, source, footers, tracked, input.statistics, options), plan))
      decided(work, fitted, selected, metrics, steps, batch)
    }
  }

  private def planned(considered: RunMetrics, work: RewritePlan): RunMetrics = considered.copy(
    partitionsOptimized = if (!table.partitioned) 0 else work.plan.partitions.length.toLong,
    filesSkipped = considered.filesConsidered - work.plan.files.length,
    rows = work.input.rows(work.plan),
    inputBytes = work.plan.files.map(_.length).sum,
    targetFileSize = work.plan.target,
    targetFiles = work.tasks.count.toLong)

  /** The rewrite, unless it is not wanted or would gain too little. */
  private def decided(
      work: RewritePlan,
      fitted: FittedLayouts,
      selected: Selection,
      metrics: RunMetrics,
      steps: PartitionSteps,
      batch: Batch): BatchResult = {
    import work.{outlook, plan}
    val more = logSaid + selected.said + work.input.changesSaid
    def undone(status: RunStatus, reason: String) =
      BatchResult(status, reason + more, metrics, fitted.said, Some(outlook), batch = batch)
    if (!options.force && outlook.gain < options.minGain)
      undone(RunStatus.NoGain, new NoGain(outlook, plan, fitted).reason(options.minGain))
    else if (request.dryRun) {
      val ahead = outlook.said + "." + plan.count + steps.said(plan) + outlook.warning
      undone(RunStatus.DryRun, DryRunReason.reason(limit(work.input, plan, steps), ahead))
    } else if (steps.needed(plan, work.tasks.count, selected))
      steps.first(work, metrics, plan.count + outlook.warning + more, batch)
    else {
      val written = new Rewriter(context)(work, metrics)
      BatchResult.done(written, written.said + plan.count + outlook.warning + more, fitted.said, batch)
    }
  }

  /** Why a run would end before its last batch; a copy is one batch. */
  private def limit(input: Inspection, plan: FilePlan, steps: PartitionSteps): Option[String] =
    if (request.into.isDefined) None
    else {
      val reads = plan.partitions.map(p => p.partition.directory -> steps.reads(p)).toMap
      batches.foretold(
        input.partitions.map(p => p.directory -> p.bytes).sortBy(_._1),
        reads.getOrElse(_, Seq(0L)))
    }

  private def logSaid: String = log.filter(_.queries.isEmpty)
    .fold("")(l => s" The query log ${l.name} has no query on ${table.name}: the columns were weighed alike.")
}

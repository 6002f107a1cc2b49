package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.fit.Sample
import org.apache.spark.sql.zorder.workload.LogBoxes
import sparkzorder.curve.cost.Query

/** The part of a run that fits layouts and forecasts them, and rewrites the files if that gains enough. */
final private[run] class NewLayout(context: RunContext, batches: Batches) {
  import context._

  /**
   * @param batch
   *   what is finished and what is left when the files are rewritten in one commit
   */
  def apply(found: Found, selected: Selection, considered: RunMetrics, batch: Batch): Ending = {
    val input = progress.step("footers") {
      Inspection(pinned, table, selected, found.statistics, options)
    }(_.said)
    val plan = FilePlan(input.partitions, table.partitioned, options, request.into.isDefined)
    if (plan.partitions.isEmpty)
      Ending(RunStatus.TooSmall, plan.tooSmall + selected.said, considered, batch = batch)
    else {
      val source = input.relation(plan)
      val columns = columnsOf(source.plan)
      val footers = input.footersOf(plan)
      val tracked = Tracked.of(user, table, source.plan, columns, input.statistics, footers)
      val sampled = progress.step("sample") {
        Sampling(pinned, source, tracked.all, plan, input.rows(plan))
      }(_.said)
      val boxes = log.filter(_.queries.nonEmpty).map(l =>
        LogBoxes.drawing(user, source.schema, l, tracked.all.map(_.sql)))
      val fitted = progress.step("fit") {
        def queries(sample: Sample) = boxes.fold(Seq.empty[Query])(_(sample).queries)
        Fitted(sampled, columns, plan, input.rows(_), curve, options.pageRowLimit, queries)
      }(_.said)
      val outlook = progress.step("forecast") {
        new Foresight(input, plan, tracked, fitted, options).outlook(pinned, boxes)
      }(_.said)
      val tasks = Tasks.of(plan.partitions.map(_.partition.directory), fitted.routes)
      val work = Work(input, plan, source, columns, fitted.routes, tasks, fitted.said, outlook, curve)
      val steps = new PartitionSteps(context, batches)
      val metrics = planned(considered, work).copy(
        sampledRows = sampled.rows.toLong,
        cost =
          steps.priced(RunCost.of(pinned, source, footers, tracked, input.statistics, options), plan))
      decided(work, fitted, selected, metrics, steps, batch)
    }
  }

  private def planned(considered: RunMetrics, work: Work): RunMetrics = considered.copy(
    partitionsOptimized = if (!table.partitioned) 0 else work.plan.partitions.length.toLong,
    filesSkipped = considered.filesConsidered - work.plan.files.length,
    rows = work.input.rows(work.plan),
    inputBytes = work.plan.files.map(_.length).sum,
    targetFileSize = work.plan.target,
    targetFiles = work.tasks.count.toLong)

  /** The rewrite, unless it is not wanted or would gain too little. */
  private def decided(
      work: Work,
      fitted: Fitted,
      selected: Selection,
      metrics: RunMetrics,
      steps: PartitionSteps,
      batch: Batch): Ending = {
    import work.{outlook, plan}
    val more = logSaid + selected.said + work.input.changesSaid
    def undone(status: RunStatus, reason: String) =
      Ending(status, reason + more, metrics, fitted.said, Some(outlook), batch = batch)
    if (request.dryRun)
      undone(RunStatus.DryRun, outlook.said + "." + steps.said(plan) + outlook.warning)
    else if (!options.force && request.into.isEmpty && outlook.gain < options.minGain)
      undone(RunStatus.NoGain, new NoGain(outlook, plan, fitted).reason(options.minGain))
    else if (steps.needed(plan, work.tasks.count, selected))
      steps.first(work, metrics, outlook.warning + more, batch)
    else {
      val written = new WriteOut(context)(work, metrics)
      Ending.done(written, written.said + outlook.warning + more, fitted.said, batch)
    }
  }

  private def logSaid: String = log.filter(_.queries.isEmpty)
    .fold("")(l => s" The query log ${l.name} has no query on ${table.name}: the columns were weighed alike.")
}

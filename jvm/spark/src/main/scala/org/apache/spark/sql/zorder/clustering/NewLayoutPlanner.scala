package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.zorder.clustering.fit.Sample
import org.apache.spark.sql.zorder.clustering.forecast.{
  CostForecast,
  EnoughFiles,
  FittedLayouts,
  NoGain,
  PartitionFits,
  PlannedPages,
  RewriteForecaster,
  Sampling
}
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.clustering.plan.{FilePlan, GrowthPlan, OutputPlan, PlacedPartition}
import org.apache.spark.sql.zorder.clustering.report.{HumanReadable, RunStatus}
import org.apache.spark.sql.zorder.clustering.request.RunContext
import org.apache.spark.sql.zorder.clustering.rewrite.RewritePlan
import org.apache.spark.sql.zorder.clustering.select.Selection
import org.apache.spark.sql.zorder.clustering.draw.DrawnQueries
import sparkzorder.curve.cost.Query

/** Clusters files anew: samples rows, fits layouts, forecasts them, decides whether they gain enough. */
final private[clustering] class NewLayoutPlanner(context: RunContext, batches: Batches) {
  import context.{curve, log, options, pinned, progress, request, statistics, table, user}
  private val sizes = new StepSizes(context, batches)

  /**
   * @param batch
   *   what is finished and what is left when the files are rewritten in one commit
   * @param grown
   *   the directories of partitions that have outgrown their layouts
   */
  def apply(selected: Selection, batch: Batch, grown: Set[String]): Planned = {
    val input = progress.step("footers") {
      // queries of a log ask for pages of other columns, too, which are known later
      if (log.isDefined || selected.footers.isDefined)
        Inspection(pinned, table, selected.footersIn(pinned, statistics.columns), statistics, options)
      else Inspection.read(context, selected.files)
    }(_.summary)
    val files = FilePlan(
      input.partitions,
      if (request.into.isDefined) input.partitions.map(_.bytes).sum else context.tableBytes,
      options,
      copy = request.into.isDefined,
      request.full,
      input.rows(_),
      grown)
    if (input.isEmpty) Planned.Ended(BatchResult(context.tooSmall("rows", selected), batch))
    else if (files.partitions.isEmpty)
      Planned.Ended(BatchResult(
        context.report(selected).copy(
          status = RunStatus.TooSmall,
          reason = FilePlan.tooSmall(
            input.partitions,
            table.partitioned,
            context.tableBytes,
            files.target) + selected.summary),
        batch))
    else {
      // small ones that a layout of their own would not help still grow in theirs, in the next batch
      val planned = files.partitions.map(_.partition.directory).toSet
      val dropped = input.partitions.map(_.directory).filter(d => grown(d) && !planned(d))
      // a dry run is one batch
      val next =
        if (request.dryRun) batch
        else batch.copy(finished = batch.finished -- dropped, left = dropped.sorted ++ batch.left)
      fitted(input, files, selected, next)
    }
  }

  /**
   * @param bySize
   *   the files as their sizes alone suggest; it may take more of them to read no more than now
   */
  private def fitted(input: Inspection, bySize: FilePlan, selected: Selection, batch: Batch): Planned = {
    val source = input.relation(bySize)
    val footers = input.footersOf(bySize)
    val tracked = TrackedColumns.of(context, input, footers, source.plan)
    val columns = tracked.clustering
    val enough = new EnoughFiles(input, tracked, options)
    val sampled = progress.step("sample") {
      Sampling(pinned, source, tracked.all, enough.most(bySize), input)
    }(_.summary)
    val drawn = log.filter(_.queries.nonEmpty).map(l =>
      DrawnQueries.drawing(user, source.schema, l, tracked.all.map(_.sql)))
    def queries(sample: Sample) = drawn.fold(Seq.empty[Query])(_(sample).queries)
    val rows = bySize.partitions.map(p => input.rows(p.partition))
    val fits = new PartitionFits(sampled, rows, columns, curve, options.pageRowLimit, queries)
    val (files, layouts) = progress.step("fit") {
      val files = enough.of(bySize, sampled, fits)
      files -> FittedLayouts(files, sampled, fits)
    }(_._2.summary)
    val pages = PlannedPages.of(input, tracked, files, options, whole = true)
    val forecast = progress.step("forecast") {
      new RewriteForecaster(input, files, tracked, layouts, pages).forecast(pinned, drawn)
    }(_.summary)
    val cost = CostForecast.of(pinned, source, footers, tracked, input.statistics, options, sampled = footers)
    val report = context.report(selected, layouts.summary, files.partitions.length)
    val metrics = report.metrics.copy(
      targetFileSize = files.target,
      sampledRows = sampled.rows.toLong,
      cost = sizes.withSteps(cost, files))
    val rewrite = RewritePlan(
      report.copy(metrics = metrics),
      input,
      files,
      () => source,
      columns,
      layouts.layouts,
      OutputPlan.of(files.partitions.map(_.partition.directory), layouts.layouts),
      forecast,
      pages)
    decide(rewrite, layouts, selected, batch)
  }

  /**
   * No plan if the layouts would gain too little, unless all files are to be rewritten whatever is gained.
   */
  private def decide(
      rewrite: RewritePlan,
      layouts: FittedLayouts,
      selected: Selection,
      batch: Batch): Planned = {
    import rewrite.{files, forecast}
    val notes = emptyLogNote + selected.summary + rewrite.input.changesSummary
    val noGain =
      if (forecast.gain < options.minGain)
        Some(new NoGain(forecast, files, layouts).sentence(options.minGain))
      else None
    if (noGain.isDefined && !options.force && !request.full)
      Planned.Ended(BatchResult(
        rewrite.planned.leftAsItIs.copy(
          reason = s"${noGain.get} (${forecast.summary}).${forecast.warning} " +
            s"FULL or WITH (force = true) does it anyway.$notes"),
        batch))
    else {
      val asked = if (request.full) noGain.fold("")(why => s" $why.") else ""
      val disk = sizes.diskWarning(files, rewrite.report.metrics.cost)
      if (disk.nonEmpty) progress.announce(disk.trim)
      val remarks = asked + forecast.warning + rewrite.rowGroupNote + disk + notes
      val steps =
        if (sizes.needsSteps(files, rewrite.outputs.count, selected)) Some(firstStep(rewrite)) else None
      val begins =
        if (request.dryRun) forecast.summary + "." + files.countNote + sizes.summary(files)
        else steps.fold("")(begun) + files.countNote
      Planned.settled(
        request.dryRun,
        rewrite,
        batch,
        steps.map(s => Batch(left = batch.left, underway = Some(s))),
        begins + remarks,
        limit(rewrite.input, files))
    }
  }

  private def begun(steps: StepsUnderway): String =
    s"${HumanReadable.files(steps.moving)} are clustered in steps of at most " +
      s"${HumanReadable.bytes(sizes.stepBytes(steps))}."

  private def firstStep(rewrite: RewritePlan): StepsUnderway = {
    val partition = rewrite.files.partitions.head.partition
    val placed = PlacedPartition(partition.directory, None, newFiles = partition.files)
    StepsUnderway.begin(placed, placed.newFiles, GrowthPlan.Refit, rewrite)
  }

  /** Why the run would end before its last batch; a copy is one batch. */
  private def limit(input: Inspection, files: FilePlan): Option[String] =
    if (request.into.isDefined) None
    else {
      val reads = files.partitions.map(p => p.partition.directory -> sizes.reads(p)).toMap
      batches.limitAhead(
        input.partitions.map(p => p.directory -> p.bytes).sortBy(_._1),
        context.tableBytes,
        reads.getOrElse(_, Seq(0L)))
    }

  private def emptyLogNote: String = log.filter(_.queries.isEmpty).fold("") { l =>
    s" The query log ${l.name} has no query on ${table.name}: all columns were given the same weight."
  }
}

package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.zorder.clustering.fit.Sample
import org.apache.spark.sql.zorder.clustering.forecast.{
  CostForecast,
  EnoughFiles,
  FittedLayouts,
  Forecast,
  NoGain,
  PartitionFits,
  PlannedPages,
  RewriteForecaster,
  Sampling
}
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.clustering.plan.{FilePlan, GrowthPlan, OutputPlan, PlacedPartition}
import org.apache.spark.sql.zorder.clustering.report.{HumanReadable, RunCost, RunStatus}
import org.apache.spark.sql.zorder.clustering.request.RunContext
import org.apache.spark.sql.zorder.clustering.rewrite.RewritePlan
import org.apache.spark.sql.zorder.clustering.select.Selection
import org.apache.spark.sql.zorder.clustering.draw.DrawnQueries
import org.apache.spark.sql.zorder.table.file.InputRelation
import sparkzorder.curve.cost.Query
import sparkzorder.curve.page.PageCut

/**
 * Clusters files anew: samples rows, fits layouts, forecasts them, decides whether they gain enough.
 *
 * @param before
 *   of a dry run: bytes that batches of the run read before these
 */
final private[clustering] class NewLayoutPlanner(
    context: RunContext,
    batches: Batches,
    before: Seq[Long]) {
  import context.{curve, log, options, pinned, progress, request, statistics, table, user}

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
    val tracked = TrackedColumns.of(context, input, input.footersOf(bySize), source.plan)
    val columns = tracked.clustering
    // a dry run plans the partitions of all its batches at once; one that is alone is cut by its steps
    val alone = bySize.partitions.length == 1
    val most = if (request.dryRun || alone) Long.MaxValue else Batches.MostFiles.toLong
    val enough = new EnoughFiles(input, tracked, options, most)
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
    def judged(plan: FilePlan, theirs: FittedLayouts): Judged = {
      val pages = PlannedPages.of(input, tracked, plan, options, whole = true)
      val forecaster = new RewriteForecaster(input, plan, tracked, theirs, pages)
      val forecast = forecaster.forecast(pinned, drawn)
      Judged(plan, theirs, pages, forecast, gains = forecast.gain >= options.minGain)
    }
    def judgedAlone(places: IndexedSeq[Int]): Judged = {
      val chosen = places.map(p => files.partitions(p))
      judged(
        files.copy(partitions = chosen, countNote = ""),
        layouts.only(places, fits(places.head, chosen.head.files)))
    }
    val verdict = progress.step("forecast") {
      byBatches(judged(files, layouts), input, files, judgedAlone)
    }(_.forecast.summary)
    val footers = input.footersOf(verdict.files)
    val cost = CostForecast.of(pinned, source, footers, tracked, input.statistics, options, sampled = footers)
    val sizes = new StepSizes(context, batches, selected)
    val rewrite = rewriteOf(verdict, input, tracked, source, sizes.withSteps(cost, verdict.files), selected)
    decide(verdict, rewrite, selected, batch, sizes, sizes.diskWarning(verdict.files, cost))
  }

  /**
   * A run judges each of its batches alone, and so does a dry run, which plans all of them at once: it leaves out those
   * that gain too little. If all do, its reason is that of all together, or of the first where all together would gain
   * enough.
   *
   * @param whole
   *   all partitions together
   * @param judgedAlone
   *   by the places of partitions in the plan
   */
  private def byBatches(
      whole: Judged,
      input: Inspection,
      files: FilePlan,
      judgedAlone: IndexedSeq[Int] => Judged): Judged =
    if (!request.dryRun || request.into.isDefined || rewritesAll) whole
    else {
      val each = placesAhead(input, files)
      val gaining = if (each.length < 2) Nil else each.filter(places => judgedAlone(places).gains)
      if (each.length < 2 || gaining.isEmpty && !whole.gains) whole
      else if (gaining.isEmpty) judgedAlone(each.head)
      else if (gaining.length == each.length) whole.copy(gains = true)
      else judgedAlone(gaining.flatten.sorted.toIndexedSeq).copy(gains = true)
    }

  /**
   * The places in the plan of the partitions of each batch. Of very many batches, neighbours are taken together: to
   * judge one goes through all footers.
   */
  private def placesAhead(input: Inspection, files: FilePlan): Seq[IndexedSeq[Int]] = {
    val places = files.partitions.indices.map(p => files.partitions(p).partition.directory -> p).toMap
    val each = batches.ahead(waiting(input), context.tableBytes)
      .map(b => b.finished.toIndexedSeq.flatMap(d => places.get(d).toSeq).sorted).filter(_.nonEmpty)
    val together = 1 + (each.length - 1) / NewLayoutPlanner.MostJudged
    each.grouped(together).map(_.flatten.toIndexedSeq).toList
  }

  /** Whether all files are to be rewritten, whatever is gained. */
  private def rewritesAll: Boolean = options.force || request.full

  private def rewriteOf(
      judged: Judged,
      input: Inspection,
      tracked: TrackedColumns,
      source: InputRelation,
      cost: RunCost,
      selected: Selection): RewritePlan = {
    import judged.{files, layouts}
    val report = context.report(selected, layouts.summary, files.partitions.length)
    val metrics = report.metrics.copy(
      targetFileSize = files.target,
      sampledRows = layouts.sampled.rows.toLong,
      cost = cost)
    RewritePlan(
      report.copy(metrics = metrics),
      input,
      files,
      () => source,
      tracked.clustering,
      layouts.layouts,
      OutputPlan.of(files.partitions.map(_.partition.directory), layouts.layouts),
      judged.forecast,
      judged.pages)
  }

  /**
   * No plan if the layouts would gain too little, unless all files are to be rewritten whatever is gained.
   *
   * @param disk
   *   a warning; may be empty
   */
  private def decide(
      judged: Judged,
      rewrite: RewritePlan,
      selected: Selection,
      batch: Batch,
      sizes: StepSizes,
      disk: String): Planned = {
    import rewrite.{files, forecast}
    val notes = emptyLogNote + selected.summary + rewrite.input.changesSummary
    val noGain =
      if (judged.gains) None
      else Some(new NoGain(forecast, files, judged.layouts).sentence(options.minGain))
    if (noGain.isDefined && !rewritesAll)
      Planned.Ended(BatchResult(
        rewrite.planned.leftAsItIs.copy(
          reason = s"${noGain.get} (${forecast.summary}).${forecast.warning} " +
            s"FULL or WITH (force = true) does it anyway.$notes"),
        batch))
    else {
      val asked = if (request.full) noGain.fold("")(why => s" $why.") else ""
      if (disk.nonEmpty) progress.announce(disk.trim)
      val remarks = asked + forecast.warning + rewrite.rowGroupNote + disk + notes
      val inSteps = files.partitions.length == 1 &&
        sizes.needsSteps(files.partitions.head.copy(files = rewrite.outputs.count))
      val steps = if (inSteps) Some(firstStep(rewrite)) else None
      val begins =
        if (request.dryRun) forecast.summary + "." + files.countNote + sizes.summary(files)
        else steps.fold("")(begun) + files.countNote
      Planned.settled(
        request.dryRun,
        rewrite,
        batch,
        steps.map(s => Batch(left = batch.left, underway = Some(s))),
        begins + remarks,
        limit(rewrite.input, files, sizes))
    }
  }

  private def begun(steps: StepsUnderway): String =
    s"${HumanReadable.files(steps.moving)} ${HumanReadable.are(steps.moving.length.toLong)} clustered in steps of at most " +
      s"${HumanReadable.bytes(StepSizes.most(batches, steps.placed, steps.ref))}."

  private def firstStep(rewrite: RewritePlan): StepsUnderway = {
    val partition = rewrite.files.partitions.head.partition
    val placed = PlacedPartition(partition.directory, None, newFiles = partition.files)
    StepsUnderway.begin(placed, placed.newFiles, GrowthPlan.Refit, rewrite)
  }

  /** Why the run would end before its last batch; a copy is one batch. */
  private def limit(input: Inspection, files: FilePlan, sizes: StepSizes): Option[String] =
    if (request.into.isDefined) None
    else {
      val reads = files.partitions.map(p => p.partition.directory -> sizes.reads(p)).toMap
      batches.limitAhead(waiting(input), context.tableBytes, reads.getOrElse(_, Seq(0L)), before)
    }

  private def waiting(input: Inspection): Seq[WaitingPartition] =
    WaitingPartition.inOrder(context, input.partitions)

  private def emptyLogNote: String = log.filter(_.queries.isEmpty).fold("") { l =>
    s" The query log ${l.name} has no query on ${table.name}: all columns were given the same weight."
  }
}

private object NewLayoutPlanner {

  /** The most batches that a dry run judges, each alone. */
  val MostJudged = 50
}

/**
 * Layouts of some partitions, and what they would gain.
 *
 * @param gains
 *   whether that is enough: all together, or each of their batches
 */
final private case class Judged(
    files: FilePlan,
    layouts: FittedLayouts,
    pages: PageCut,
    forecast: Forecast,
    gains: Boolean)

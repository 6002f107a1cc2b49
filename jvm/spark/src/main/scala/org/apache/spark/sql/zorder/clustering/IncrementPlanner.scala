package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts, ZOrderFile}
import org.apache.spark.sql.zorder.clustering.fit.{CountedSample, Sampler}
import org.apache.spark.sql.zorder.clustering.forecast.{
  CostForecast,
  IncrementForecaster,
  OwnLayouts,
  PlannedPages,
  Sampling
}
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.clustering.plan.{
  FilePlan,
  GrowingPartition,
  GrowthPlan,
  PlacedPartition,
  SizedPartition
}
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.clustering.request.RunContext
import org.apache.spark.sql.zorder.clustering.rewrite.RewritePlan
import org.apache.spark.sql.zorder.clustering.select.Selection
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/**
 * Plans how new files grow into layouts that are stored already: one pruned job counts the new rows by file
 * number, and then they are merged into their cells or become files of their own, as the write budget allows.
 *
 * @param before
 *   of a dry run: bytes that batches of the run read before these
 */
final private[clustering] class IncrementPlanner(
    context: RunContext,
    batches: Batches,
    before: Seq[Long]) {
  import context.{curve, log, options, pinned, progress, request, statistics}

  /**
   * @param partitions
   *   with a stored layout and new files
   * @param selected
   *   the selection that they belong to
   * @param gains
   *   false after new layouts of them were tried and gained too little
   * @return
   *   None if all of them have to be clustered anew
   */
  def apply(
      partitions: Seq[(PlacedPartition, LayoutRef)],
      selected: Selection,
      gains: Boolean): Option[Planned] = {
    val input =
      progress.step("footers")(Inspection.read(context, partitions.flatMap(_._1.all)))(_.summary)
    // files that have lost all their rows leave no file when they are written again
    val (waiting, idle) =
      partitions.partition { case (p, _) => p.newFilesAfter.isDefined || input.rows(p.newFiles) > 0 }
    def idleAlone: Option[Planned] =
      if (idle.isEmpty) None else Some(Planned.Ended(noRows(idle.map(_._1), selected)))
    // idle ones are finished before others are clustered anew, or they would be clustered with them
    if (waiting.isEmpty) idleAlone
    else grown(waiting, input, selected, idle.map(_._1.directory).toSet, gains).orElse(idleAlone)
  }

  /** New files without rows are rewritten only together with others. */
  private def noRows(idle: Seq[PlacedPartition], selected: Selection): BatchResult =
    BatchResult(
      context.report(selected).nothingToDo(
        s"New files hold no rows: ${HumanReadable.files(idle.flatMap(_.newFiles))}.${selected.summary}"),
      Batch(idle.map(_.directory).toSet))

  /**
   * Decides what happens to the new rows of each partition.
   *
   * @param idle
   *   partitions whose new files have no rows: they are finished, whatever becomes of the others
   */
  private def grown(
      partitions: Seq[(PlacedPartition, LayoutRef)],
      input: Inspection,
      selected: Selection,
      idle: Set[String],
      gains: Boolean): Option[Planned] = {
    val incoming = FilePlan(partitions.toIndexedSeq.map { case (p, ref) =>
      SizedPartition(PinnedPartition(p.directory, p.newFiles), ref.layout.files)
    })
    val source = input.relation(incoming)
    val tracked = TrackedColumns.of(context, input, input.footersOf(incoming), source.plan)
    val fitting =
      partitions.filter { case (_, ref) => ref.fits(tracked.clustering.map(_.dataType)) }
    if (fitting.isEmpty) None
    else if (fitting.length < partitions.length) grown(fitting, input, selected, idle, gains)
    else {
      val layouts = PartitionLayouts(partitions.map(_._2).toIndexedSeq)
      val counted = progress.step("sample")(count(source, input, incoming, tracked, layouts))(c =>
        s"${HumanReadable.count(c.rows.sum, "new row")} counted by file number")
      val forecaster = new IncrementForecaster(pinned, input, tracked, options, context.tableBytes)
      val decided = progress.step("forecast") {
        partitions.zip(counted.split(layouts.firstFile)).map { case ((placed, ref), here) =>
          val growth = forecaster.growth(placed, here.rows)
          val takesAll = request.where.isEmpty && selected.kept.forall(_.partition != placed.directory)
          val isWhole = takesAll && placed.newFilesAfter.isEmpty
          GrowingPartition(placed, ref, here, growth, growth.decide(options.writeBudget, isWhole, gains))
        }
      }(g => s"${g.count(_.plan != GrowthPlan.Refit)} of ${g.length} partitions grow in their layouts")
      val growing = decided.filter(_.plan != GrowthPlan.Refit)
      if (growing.isEmpty) None else Some(plan(growing, input, forecaster, counted, selected, idle))
    }
  }

  private def count(
      source: InputRelation,
      input: Inspection,
      incoming: FilePlan,
      tracked: TrackedColumns,
      layouts: PartitionLayouts): CountedSample = {
    val route = if (layouts.refs.length == 1) None else Some(source.route)
    // file numbers without their spread: a heavy value grows in the first of its files
    val file = ZOrderFile(layouts, route, tracked.clustering.map(_.expression), None)
    val list: Seq[NamedExpression] =
      tracked.all.zipWithIndex.map { case (c, i) => Alias(c.expression, s"c$i")() } :+ Alias(file, "file")()
    val footers = input.footersOf(incoming)
    val wanted = Sampling.withinMemory(IncrementPlanner.SampledRows, tracked.all, footers, statistics)
    val share = math.min(1.0, wanted.toDouble / math.max(1L, input.rows(incoming)))
    Sampler.counted(
      Shims.ofRows(pinned, Project(list, source.plan)),
      layouts.files,
      Sampler.byPlace(share))
  }

  private def plan(
      decided: Seq[GrowingPartition],
      input: Inspection,
      forecaster: IncrementForecaster,
      counted: CountedSample,
      selected: Selection,
      idle: Set[String]): Planned = {
    val sizes = new StepSizes(context, batches, selected)
    // a partition that needs steps is a batch of its own; a dry run has all batches at once
    val (stepped, whole) = decided.partition(g =>
      (request.dryRun || decided.length == 1) &&
        sizes.needsSteps(sized(g).copy(files = GrowingPartition.outputs(Seq(g)).count)))
    // each step writes a part of the new rows; a layout by a log is there for what its queries ask
    val growing =
      if (log.isDefined || whole.isEmpty) decided
      else (stepped ++ withOwnLayouts(whole, forecaster.tracked)).sortBy(_.placed.directory)
    val (rewrite, disk) = rewriteOf(growing, input, forecaster, counted, selected, stepped, sizes)
    if (disk.nonEmpty) progress.announce(disk.trim)
    val steps =
      if (request.dryRun || stepped.isEmpty) None else Some(firstStep(growing.head, rewrite))
    val inSteps =
      if (stepped.isEmpty) "" else s" In steps of at most ${HumanReadable.bytes(stepped.map(most).max)}."
    Planned.settled(
      request.dryRun,
      rewrite,
      Batch(
        finished = idle ++ growing.filter(_.placed.newFilesAfter.forall(_.isEmpty)).map(_.placed.directory),
        deletesRewritten = growing.filter(_.placed.newFilesAfter.isDefined).map(_.placed.directory).toSet),
      steps.map(s => Batch(idle, underway = Some(s))),
      IncrementPlanner.summary(
        growing.map(_.summary(options))) + inSteps + disk + selected.summary + input.changesSummary,
      limit(growing, stepped))
  }

  /** The most bytes of a step. */
  private def most(g: GrowingPartition): Long = StepSizes.most(batches, g.placed, g.ref)

  private def withOwnLayouts(
      decided: Seq[GrowingPartition],
      tracked: TrackedColumns): Seq[GrowingPartition] =
    progress.step("fit")(new OwnLayouts(tracked, curve, options).of(decided)) { g =>
      s"${g.count(_.own.isDefined)} of ${g.length} partitions cut new rows by a layout of their own"
    }

  /** The plan, and a warning that may be empty. */
  private def rewriteOf(
      growing: Seq[GrowingPartition],
      input: Inspection,
      forecaster: IncrementForecaster,
      counted: CountedSample,
      selected: Selection,
      stepped: Seq[GrowingPartition],
      sizes: StepSizes): (RewritePlan, String) = {
    val files = filesOf(growing)
    val source = input.relation(files)
    val outputs = GrowingPartition.outputs(growing)
    val pages = PlannedPages.of(input, forecaster.tracked, files, options, whole = outputs.spread)
    val forecast = forecaster.forecast(growing, pages)
    val stored = IncrementPlanner.layouts(growing.map(_.ref.id).distinct)
    val report = context.report(selected, stored, growing.count(_.placed.newFilesAfter.forall(_.isEmpty)))
    val cost = CostForecast.of(
      pinned,
      source,
      input.footersOf(files),
      forecaster.tracked,
      statistics,
      options,
      sampled = growing.flatMap(_.placed.newFiles).map(f => input.byPath(f.path)))
    val twice = stepped.filterNot(appends).map(sized(_).partition.bytes).sum
    val metrics = report.metrics.copy(
      cost = sizes.withFirstPass(cost, files, twice),
      targetFileSize = files.files.map(_.length).sum / math.max(1, outputs.count),
      sampledRows = counted.rows.sum)
    val rewrite = RewritePlan(
      report.copy(metrics = metrics),
      input,
      files,
      () => source,
      context.columnsOf(source.plan),
      PartitionLayouts(growing.map(_.cutBy).toIndexedSeq),
      outputs,
      forecast,
      pages,
      recorded = Some(growing.map(_.ref).toIndexedSeq),
      kept = Some(forecaster.levelsWithout(growing, files.files)))
    (rewrite, sizes.diskWarning(files, cost))
  }

  /** Where every file is written anew, it is as if the partition were clustered anew. */
  private def firstStep(g: GrowingPartition, rewrite: RewritePlan): StepsUnderway =
    StepsUnderway.begin(g.placed, g.moved, if (g.spreadsHeavy) GrowthPlan.Refit else g.plan, rewrite)

  /** Why the run would end before its last batch. */
  private def limit(growing: Seq[GrowingPartition], stepped: Seq[GrowingPartition]): Option[String] = {
    val inSteps = stepped.map(_.placed.directory).toSet
    val reads = growing.map { g =>
      val partition = sized(g).partition
      val each =
        if (inSteps(g.placed.directory))
          StepSizes.reads(partition.bytes, partition.files.length, most(g), if (appends(g)) 1 else 2)
        else Seq(partition.bytes)
      g.placed.directory -> each
    }.toMap
    val whole = growing.map(g => WaitingPartition(g.placed.directory, g.placed.all))
    batches.limitAhead(whole.sortBy(_.directory), context.tableBytes, reads, before)
  }

  private def appends(g: GrowingPartition): Boolean = g.plan.isInstanceOf[GrowthPlan.Append]

  private def filesOf(growing: Seq[GrowingPartition]): FilePlan = FilePlan(growing.toIndexedSeq.map(sized))

  /** The files of the partition that are written anew. */
  private def sized(g: GrowingPartition): SizedPartition = SizedPartition(
    PinnedPartition(g.placed.directory, g.placed.newFiles ++ g.rewritten),
    g.cutBy.layout.files)
}

private[clustering] object IncrementPlanner {
  private val SampledRows = 100000L

  /** A table may have thousands of partitions: so many are told of. */
  private val Told = 5

  /** The sentences of the first partitions. */
  private[clustering] def summary(each: Seq[String]): String = {
    val others = each.length - Told
    if (others <= 0) each.mkString(" ")
    else each.take(Told).mkString("", " ", s" And ${HumanReadable.count(others.toLong, "more partition")}.")
  }

  private[clustering] def layouts(ids: Seq[String]): String =
    if (ids.length > Told) HumanReadable.count(ids.length.toLong, "stored layout")
    else s"stored layout ${ids.mkString(", ")}"
}

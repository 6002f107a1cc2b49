package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts}
import org.apache.spark.sql.zorder.clustering.fit.LayoutLookUp
import org.apache.spark.sql.zorder.clustering.forecast.{Forecast, IncrementForecaster, PlannedPages, Sampling}
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, PresentLevels, TrackedColumns}
import org.apache.spark.sql.zorder.clustering.plan.{
  FilePlan,
  GrowthPlan,
  PartitionStep,
  PlacedPartition,
  SizedPartition
}
import org.apache.spark.sql.zorder.clustering.report.{HumanReadable, RunCost, RunReport}
import org.apache.spark.sql.zorder.clustering.request.RunContext
import org.apache.spark.sql.zorder.clustering.rewrite.{RewritePlan, Rewriter}
import org.apache.spark.sql.zorder.clustering.select.Selection
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers}
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/**
 * Clusters a partition that is too large for one batch, commit by commit: its files are cut by region of the
 * layout, some of them at a time, and then each region becomes its files. All rows are written twice, and no
 * commit has more in flight than a batch may. The layout is that of the whole partition, and so are the
 * files.
 */
final private[clustering] class PartitionStepRunner(context: RunContext, batches: Batches) {
  import context.{options, pinned, progress, request, table}

  /** The first step, as planned. */
  def first(plan: RewritePlan, batch: Batch): BatchResult =
    take(batch, batch.underway.get, plan.report, plan.remarks)

  /**
   * The next step of a partition, even if an earlier statement has begun it.
   *
   * @param left
   *   further partitions that wait
   * @return
   *   None if the partition has to be clustered anew: its layout is gone, or no longer fits the columns
   */
  def next(
      placed: PlacedPartition,
      selected: Selection,
      left: Seq[PlacedPartition]): Option[BatchResult] = {
    val stored = placed.layoutId.flatMap(id => table.state.layout(id).map(LayoutLookUp.stored(id, _)))
    // a statement that began anew here might do so after each of its steps
    batches.underway.filter(u => stored.forall(_.id != u.ref.id)).foreach { u =>
      throw new ZOrderConflictException(
        "ZORDER_CONFLICT.STEPS_LOST",
        "partition" -> u.partitionName,
        "table" -> table.name)
    }
    for {
      ref <- stored
      input = progress.step("footers")(inspect(placed))(_.summary)
      if ref.fits(context.columnsOf(wholly(placed, ref, input)._2.plan).map(_.dataType))
    } yield continued(placed, ref, input, selected, left)
  }

  private def continued(
      placed: PlacedPartition,
      ref: LayoutRef,
      input: Inspection,
      selected: Selection,
      left: Seq[PlacedPartition]): BatchResult = {
    val underway = batches.underway.map(_.copy(placed = placed, ref = ref, input = input))
      .getOrElse(ofEarlierRun(placed, ref, input))
    val report = context.report(selected, underway.layout)
    if (request.dryRun) {
      val steps = stepsAhead(underway)
      val others = if (left.isEmpty) "" else s", and ${HumanReadable.count(left.length.toLong, "partition")}"
      val n = steps.length.toLong
      BatchResult(underway.forecast.shownIn(report).dryRun(
        limit(steps, left),
        s"about ${HumanReadable.count(n, "step")} of an earlier run ${HumanReadable.are(n)} left$others." +
          selected.summary))
    } else {
      val reason =
        if (batches.underway.isDefined) ""
        else s"This continues the steps of an earlier run.${selected.summary}"
      take(Batch(left = left.map(_.directory)), underway, report, reason)
    }
  }

  /** Why the run would end before its last batch, by what partitions behind the steps read at least. */
  private def limit(steps: Seq[PartitionStep], left: Seq[PlacedPartition]): Option[String] = {
    val least = left.map(p => p.directory -> Seq(p.bytesToMove)).toMap
    batches.limitAhead(
      left.map(p => WaitingPartition(p.directory, p.all)),
      context.tableBytes,
      least,
      before = steps.map(_.files.map(_.length).sum))
  }

  /** Reads the footers that no earlier step has read. */
  private def inspect(placed: PlacedPartition): Inspection = {
    val before = batches.underway.map(_.input)
    val statistics = before.fold(context.statistics)(_.statistics)
    val known = before.fold(Seq.empty[FileFooter])(_.footers)
    val footers = Footers.readOthers(pinned, placed.all, statistics.columns, known)
    Inspection(pinned, table, footers, statistics, options)
  }

  private def ofEarlierRun(placed: PlacedPartition, ref: LayoutRef, input: Inspection): StepsUnderway = {
    // files that were appended after the first region came into the layout are left to a run of their own
    val moving = if (placed.inLayout.isEmpty) placed.newFiles else Nil
    StepsUnderway(
      placed,
      ref,
      moving.map(_.path).toSet,
      GrowthPlan.Refit,
      input,
      forecastOf(placed, ref, input),
      s"stored layout ${ref.id}",
      stored = true)
  }

  /** Forecasts the partition for a statement that continues where another one has ended. */
  private def forecastOf(placed: PlacedPartition, ref: LayoutRef, input: Inspection): Forecast = {
    val (files, source) = wholly(placed, ref, input)
    val tracked = TrackedColumns.of(context, input, input.footersOf(files), source.plan)
    val sampled = progress.step("sample") {
      Sampling(pinned, source, tracked.all, files, input)
    }(_.summary)
    new IncrementForecaster(pinned, input, tracked, options, context.tableBytes)
      .ofStoredLayout(placed, ref, sampled.partitions.head)
  }

  private def wholly(
      placed: PlacedPartition,
      ref: LayoutRef,
      input: Inspection): (FilePlan, InputRelation) = {
    val whole = SizedPartition(PinnedPartition(placed.directory, placed.all), ref.layout.files)
    val files = FilePlan(IndexedSeq(whole))
    (files, input.relation(files))
  }

  /** The most bytes of a step. */
  private def most(underway: StepsUnderway): Long = StepSizes.most(batches, underway.placed, underway.ref)

  private def stepsAhead(underway: StepsUnderway): Seq[PartitionStep] = {
    import underway.{growth, moving, placed, ref}
    PartitionStep.ahead(placed, moving, growth, ref.layout, most(underway))
  }

  /**
   * Rewrites the files of one step and commits them.
   *
   * @param rest
   *   what becomes of other partitions
   */
  private def take(
      rest: Batch,
      underway: StepsUnderway,
      report: RunReport,
      reason: String): BatchResult = {
    val (finished, left) =
      if (underway.after.isEmpty) (rest.finished + underway.directory, rest.left)
      else (rest.finished, underway.directory +: rest.left)
    val rewritten = if (underway.deletesFirst) Set(underway.directory) else Set.empty[String]
    val last = rest.copy(
      finished,
      left,
      underway = None,
      deletesRewritten = rest.deletesRewritten ++ rewritten)
    stepsAhead(underway) match {
      case steps @ step +: _ =>
        import underway.{growth, placed, waiting}
        val stepsLeft = PartitionStep.afterFirst(steps, placed, growth, most(underway))
        // the partition counts with its last step
        val optimized = if (stepsLeft == 0 && underway.after.isEmpty && table.partitioned) 1L else 0L
        val planned = report.copy(metrics = report.metrics.copy(partitionsOptimized = optimized))
        val written = new Rewriter(context)(rewritePlan(step, underway, planned))
        val replaced = step.files.map(_.path).toSet
        val batch =
          if (stepsLeft == 0) last
          else
            rest.copy(underway =
              Some(underway.copy(waiting = waiting -- replaced, stepsLeft = stepsLeft)))
        BatchResult(written.copy(reason = (reason + written.rebased).trim), batch)
      case _ =>
        BatchResult(
          report.nothingToDo(
            s"Another writer has replaced the files of ${underway.partitionName} that were left to do."),
          last)
    }
  }

  private def rewritePlan(step: PartitionStep, underway: StepsUnderway, report: RunReport): RewritePlan = {
    import underway.{forecast, input, placed, ref, stored}
    val sized = SizedPartition(PinnedPartition(placed.directory, step.files), ref.layout.files)
    val files = FilePlan(IndexedSeq(sized))
    val source = input.relation(files)
    val replaced = step.files.map(_.path).toSet
    RewritePlan(
      report,
      input,
      files,
      () => source,
      context.columnsOf(source.plan),
      PartitionLayouts.one(ref),
      step.outputs,
      forecast,
      PlannedPages.of(input, forecast.tracked, files, options, whole = step.outputs.spread),
      recorded = if (stored) Some(IndexedSeq(ref)) else None,
      kept = Some(
        new PresentLevels(pinned, input, forecast.tracked)
          .of(placed.all.filterNot(f => replaced(f.path)))))
  }
}

/**
 * Which partitions are too large for one batch, how large their steps are, and what these cost.
 *
 * @param commitsParts
 *   steps change a part of a partition alone, which not every format can commit; a copy is one commit
 * @param partly
 *   partitions of which the statement leaves out files: each is one batch
 */
final private[clustering] class StepSizes(commitsParts: Boolean, partly: Set[String], batches: Batches) {
  def this(context: RunContext, batches: Batches, selected: Selection) =
    this(
      context.table.commitsParts && context.request.into.isEmpty,
      selected.kept.map(_.partition).toSet,
      batches)

  private def isPossible(sized: SizedPartition): Boolean = commitsParts && !partly(sized.partition.directory)

  /** Bytes of a step; None for a partition that is one batch. */
  private def stepBytes(sized: SizedPartition): Option[Long] =
    if (isPossible(sized)) batches.stepBytes(sized.partition.bytes, sized.files) else None

  /** Whether the files of a partition have to be replaced in steps. */
  def needsSteps(sized: SizedPartition): Boolean = stepBytes(sized).isDefined

  private def large(plan: FilePlan): Seq[SizedPartition] = plan.partitions.filter(needsSteps)

  /** The cost with the first pass of large partitions, which brings their regions together. */
  def withSteps(cost: RunCost, plan: FilePlan): RunCost =
    withFirstPass(cost, plan, large(plan).map(_.partition.bytes).sum)

  /** @param twice bytes of partitions that are taken in two passes */
  def withFirstPass(cost: RunCost, plan: FilePlan, twice: Long): RunCost = {
    val share = twice.toDouble / math.max(1L, plan.files.map(_.length).sum)
    cost.and(RunCost(
      twice,
      math.round(share * cost.bytesToShuffle),
      math.round(share * cost.localDiskBytes)))
  }

  /** Bytes that each step of a partition reads, in order; one number for a partition that is one batch. */
  def reads(sized: SizedPartition): Seq[Long] = {
    val bytes = sized.partition.bytes
    stepBytes(sized).fold(Seq(bytes))(StepSizes.reads(bytes, sized.partition.files.length, _, passes = 2))
  }

  /** What a dry run says about the steps; empty if the plan needs none. */
  def summary(plan: FilePlan): String = {
    val all = large(plan)
    if (all.isEmpty) ""
    else {
      val bytes = HumanReadable.bytes(all.map(_.partition.bytes).sum)
      val most = HumanReadable.bytes(all.flatMap(stepBytes(_)).max)
      val why = batches.diskLimit(all.map(_.partition.bytes).max).fold("")(free =>
        s", since the executors' disks have ${HumanReadable.bytes(free)} free")
      s" In batches of at most $most$why: $bytes are read and written once more, to bring the regions of the layout " +
        "together."
    }
  }

  /**
   * A warning where rows of more than the disks may hold are shuffled at once, because no steps are possible.
   *
   * @param cost
   *   of one pass over all files of the plan
   */
  def diskWarning(plan: FilePlan, cost: RunCost): String = {
    val largest = plan.partitions.filterNot(isPossible).map(_.partition.bytes).foldLeft(0L)(math.max)
    val needed =
      math.round(cost.localDiskBytes * (largest.toDouble / math.max(1L, plan.files.map(_.length).sum)))
    val why =
      if (commitsParts) "a table or partition of which files are left out is" else "files of this kind are"
    batches.diskLimit(largest).filter(needed > _).fold("")(free =>
      s" The shuffle may take ${HumanReadable.bytes(needed)} of the executors' disks, which have " +
        s"${HumanReadable.bytes(free)} free, and $why not clustered in steps.")
  }
}

private[clustering] object StepSizes {

  /** The most bytes of a step of a partition that is taken in steps. */
  def most(batches: Batches, placed: PlacedPartition, ref: LayoutRef): Long =
    batches.stepBytes(placed.all.map(_.length).sum, ref.layout.files).getOrElse(Long.MaxValue)

  /** Bytes that each step reads, of files that are read so many times. A step holds one file at least. */
  def reads(bytes: Long, files: Int, step: Long, passes: Int): Seq[Long] = {
    val steps = math.max(1L, math.min(files.toLong, (bytes + step - 1) / step)).toInt
    Seq.fill(passes * steps)(math.max(step, bytes / steps))
  }
}

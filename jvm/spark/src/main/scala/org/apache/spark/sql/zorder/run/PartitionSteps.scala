package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts}
import org.apache.spark.sql.zorder.fit.LayoutLookUp
import org.apache.spark.sql.zorder.run.forecast.{Forecast, IncrementForecaster, Sampling}
import org.apache.spark.sql.zorder.run.inspect.{Inspection, PresentLevels, ResolvedRequest, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.{
  FilePlan,
  Growing,
  Grown,
  PartitionStep,
  PlacedPartition,
  SizedPartition
}
import org.apache.spark.sql.zorder.run.report.{DryRunReason, HumanReadable, RunCost, RunMetrics, RunStatus}
import org.apache.spark.sql.zorder.run.request.RunContext
import org.apache.spark.sql.zorder.run.rewrite.{RewritePlan, Rewriter}
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers}
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}

/**
 * Clusters a partition that is too large for one batch, commit by commit: its files are cut by region of the
 * layout, some of them at a time, and then each region becomes its files. All rows are written twice, and no
 * commit has more in flight than a batch may. The layout is that of the whole partition, so the files are, too.
 */
final private[run] class PartitionSteps(context: RunContext, batches: Batches) {
  import context._

  /**
   * Whether the files of the one partition of the plan have to be replaced in steps. A partition of which
   * the statement leaves files out never is.
   *
   * @param files
   *   to write
   */
  def needed(plan: FilePlan, files: Int, selected: Selection): Boolean =
    table.commitsParts && request.into.isEmpty && plan.partitions.length == 1 && {
      val partition = plan.partitions.head.partition
      batches.step(partition.bytes, files).isDefined &&
      selected.kept.forall(_.partition != partition.directory)
    }

  private def most(sized: SizedPartition): Option[Long] = batches.step(sized.partition.bytes, sized.files)

  /** The partitions of a plan that are too large for one batch. */
  private def large(plan: FilePlan): Seq[SizedPartition] =
    if (!table.commitsParts || request.into.isDefined) Nil else plan.partitions.filter(most(_).isDefined)

  /** The cost with the pass that brings regions together. */
  def priced(cost: RunCost, plan: FilePlan): RunCost = {
    val twice = large(plan).map(_.partition.bytes).sum
    val share = twice.toDouble / math.max(1L, plan.files.map(_.length).sum)
    cost.and(RunCost(
      twice,
      math.round(share * cost.bytesToShuffle),
      math.round(share * cost.localDiskBytes)))
  }

  /** Bytes that the steps of a partition read, each in turn; one number for a partition that is a batch. */
  def reads(sized: SizedPartition): Seq[Long] = {
    val bytes = sized.partition.bytes
    if (!table.commitsParts) Seq(bytes)
    else most(sized).fold(Seq(bytes))(step => Seq.fill(2 * ((bytes + step - 1) / step).toInt)(step))
  }

  def said(plan: FilePlan): String = {
    val all = large(plan)
    if (all.isEmpty) ""
    else {
      val bytes = all.map(_.partition.bytes).sum
      val most = HumanReadable.bytes(all.flatMap(this.most(_)).max)
      s" In batches of at most $most: ${HumanReadable.bytes(bytes)} are read and written once more, to bring the regions of " +
        "the layout together."
    }
  }

  /** The first step of a partition whose layout has just been fitted. */
  def first(work: RewritePlan, metrics: RunMetrics, more: String, batch: Batch): BatchResult = {
    val sized = work.plan.partitions.head
    val placed = PlacedPartition(sized.partition.directory, None, fresh = sized.partition.files)
    val began = s"${HumanReadable.files(placed.all)} are clustered in steps of at most " +
      s"${HumanReadable.bytes(most(sized).get)}.$more"
    val begun = underway(placed, placed.fresh, Growing.Refit, work.input, work.outlook, work.layout)
    take(placed, work.routes.refs.head, begun, metrics, batch.left, began)
  }

  /** The first step of new files that grow into a stored layout. */
  def grown(g: Grown, work: RewritePlan, metrics: RunMetrics, said: String, more: String): BatchResult = {
    val begun = underway(g.placed, Increment.moved(g), g.growing, work.input, work.outlook, work.layout)
    take(g.placed, g.ref, begun, metrics, Nil, said + saidOf(g) + more)
  }

  def saidOf(g: Grown): String = s" In steps of at most ${HumanReadable.bytes(most(g.placed, g.ref))}."

  private def underway(
      placed: PlacedPartition,
      waiting: Seq[DataFile],
      growing: Growing,
      input: Inspection,
      outlook: Forecast,
      layout: String): Underway =
    Underway(placed.directory, waiting.map(_.path).toSet, growing, 0, input, outlook, layout)

  /** The next step of a partition, also of one that another statement has begun. */
  def next(
      placed: PlacedPartition,
      found: ResolvedRequest,
      considered: RunMetrics,
      left: Seq[String],
      more: String): BatchResult = {
    val ref = LayoutLookUp.ofJson(placed.layoutId.flatMap(table.state.layout).get)
    val input = progress.step("footers")(inspected(placed, found))(_.said)
    val begun = batches.underway.map(_.copy(input = input)).getOrElse {
      // what was appended after the first region had been settled grows in by a run of its own
      val waiting = if (placed.settled.isEmpty) placed.fresh else Nil
      val outlook = foreseen(placed, ref, input)
      underway(placed, waiting, Growing.Refit, input, outlook, s"stored layout ${ref.id}")
    }
    if (request.dryRun) {
      val steps = ahead(placed, ref, begun)
      val reads = steps.map(_.files.map(_.length).sum) ++ left.map(_ => 0L)
      val reason = DryRunReason.reason(
        batches.foretold(reads),
        s"about ${HumanReadable.count(steps.length.toLong, "step")} of an earlier run are left.$more")
      BatchResult(RunStatus.DryRun, reason, considered, begun.layout, Some(begun.outlook))
    } else {
      val said = if (batches.underway.isDefined) "" else s"An earlier run's steps go on.$more"
      take(placed, ref, begun, considered, left, said)
    }
  }

  /** Reads the footers that no earlier step has read. */
  private def inspected(placed: PlacedPartition, found: ResolvedRequest): Inspection = {
    val before = batches.underway.map(_.input)
    val statistics = before.fold(found.statistics)(_.statistics)
    val known = before.fold(Seq.empty[FileFooter])(_.footers)
    val footers = Footers.readOthers(pinned, placed.all, statistics.columns, known)
    Inspection(pinned, table, Selection(placed.all, Nil, Some(footers)), statistics, options)
  }

  private def ahead(placed: PlacedPartition, ref: LayoutRef, begun: Underway): Seq[PartitionStep] = {
    val moving = (placed.fresh ++ placed.spanning).filter(f => begun.waiting(f.path))
    PartitionStep.ahead(placed, moving, begun.growing, ref.layout, most(placed, ref))
  }

  private def most(placed: PlacedPartition, ref: LayoutRef): Long =
    batches.step(placed.all.map(_.length).sum, ref.layout.files).getOrElse(Long.MaxValue)

  private def take(
      placed: PlacedPartition,
      ref: LayoutRef,
      begun: Underway,
      metrics: RunMetrics,
      left: Seq[String],
      said: String): BatchResult = {
    import begun.{input, layout, outlook}
    ahead(placed, ref, begun) match {
      case steps @ step +: _ =>
        val replaced = step.files.map(_.path).toSet
        val kept = new PresentLevels(pinned, input, outlook.tracked)
          .of(placed.all.filterNot(f => replaced(f.path)))
        val work = workOf(step, placed, ref, input, outlook, layout).copy(kept = Some(kept))
        val waiting = PartitionStep.afterFirst(steps, placed, begun.growing, most(placed, ref))
        val written = new Rewriter(context)(work, stepMetrics(metrics, step, work, last = waiting == 0))
        val batch =
          if (waiting == 0) Batch(Set(placed.directory), left)
          else Batch(Set.empty, left, Some(begun.copy(waiting = begun.waiting -- replaced, steps = waiting)))
        BatchResult.done(written, said, layout, batch)
      case _ =>
        val reason = s"Others have replaced the files of ${begun.said} that were left to do."
        BatchResult(
          RunStatus.NothingToDo,
          reason,
          metrics,
          layout,
          batch = Batch(Set(placed.directory), left))
    }
  }

  private def workOf(
      step: PartitionStep,
      placed: PlacedPartition,
      ref: LayoutRef,
      input: Inspection,
      outlook: Forecast,
      layout: String): RewritePlan = {
    val sized = SizedPartition(PinnedPartition(placed.directory, step.files), ref.layout.files)
    val plan = FilePlan(IndexedSeq(sized), sized.partition.bytes / math.max(1, step.tasks.count), "")
    val source = input.relation(plan)
    val routes = PartitionLayouts(IndexedSeq(ref))
    RewritePlan(input, plan, source, columnsOf(source.plan), routes, step.tasks, layout, outlook, curve)
  }

  /** Rows count when they are in their files. */
  private def stepMetrics(
      metrics: RunMetrics,
      step: PartitionStep,
      work: RewritePlan,
      last: Boolean): RunMetrics =
    metrics.copy(
      partitionsOptimized = if (table.partitioned && last) 1 else 0,
      filesSkipped = metrics.filesConsidered - step.files.length,
      rows = if (step.settles) work.input.rows(work.plan) else 0,
      inputBytes = step.files.map(_.length).sum,
      targetFiles = if (step.settles) work.tasks.count.toLong else 0)

  /** What the files are and will be, for a statement that goes on where another has ended. */
  private def foreseen(placed: PlacedPartition, ref: LayoutRef, input: Inspection): Forecast = {
    val plan = FilePlan(
      IndexedSeq(SizedPartition(PinnedPartition(placed.directory, placed.all), ref.layout.files)),
      0L,
      "")
    val source = input.relation(plan)
    val tracked = TrackedColumns.of(
      user,
      table,
      source.plan,
      columnsOf(source.plan),
      input.statistics,
      input.footersOf(plan))
    val sampled = progress.step("sample") {
      Sampling(pinned, source, tracked.all, plan, input.rows(plan))
    }(_.said)
    new IncrementForecaster(pinned, input, tracked, options).of(placed, ref, sampled.partitions.head)
  }
}

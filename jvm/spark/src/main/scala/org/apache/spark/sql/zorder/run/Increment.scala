package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts, ZOrderFile}
import org.apache.spark.sql.zorder.fit.{Counted, Sampler}
import org.apache.spark.sql.zorder.run.forecast.IncrementForecaster
import org.apache.spark.sql.zorder.run.inspect.{Inspection, RunStatistics, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.{
  FilePlan,
  Growing,
  Grown,
  OutputFile,
  OutputFiles,
  PlacedPartition,
  SizedPartition
}
import org.apache.spark.sql.zorder.run.report.{DryRunReason, HumanReadable, RunMetrics, RunStatus}
import org.apache.spark.sql.zorder.run.request.{ClusterColumn, RunContext}
import org.apache.spark.sql.zorder.run.rewrite.{RewritePlan, Rewriter}
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * The part of a run that takes new files into layouts that are stored already: the new rows are counted by
 * file number, one pruned job, and then merged into their cells or appended in layout order, whatever the
 * write budget says.
 */
final private[run] class Increment(context: RunContext, batches: Batches) {
  import context.{curve, options, progress, request, table, user}
  private val session = context.pinned

  /**
   * @param partitions
   *   with a stored layout and new files
   * @param selected
   *   which these are of
   * @return
   *   None if all of them have to be clustered anew
   */
  def apply(
      partitions: Seq[(PlacedPartition, LayoutRef)],
      statistics: RunStatistics,
      considered: RunMetrics,
      selected: Selection): Option[BatchResult] = {
    val everything = Selection(partitions.flatMap(_._1.all), Nil)
    val input = progress.step("footers") {
      Inspection(session, table, everything, statistics, options)
    }(_.said)
    // of files that lost all their rows, none is left when they are written again
    val (waiting, idle) =
      partitions.partition { case (p, _) => p.later.isDefined || input.rows(p.fresh) > 0 }
    if (waiting.isEmpty) Some(noRows(idle.map(_._1), considered, selected))
    else grown(waiting, input, statistics, considered, selected).map(e =>
      e.copy(batch = e.batch.copy(finished = e.batch.finished ++ idle.map(_._1.directory))))
  }

  /** Such files are taken along when there are others to take. */
  private def noRows(idle: Seq[PlacedPartition], considered: RunMetrics, selected: Selection): BatchResult =
    BatchResult(
      RunStatus.NothingToDo,
      s"${HumanReadable.files(idle.flatMap(_.fresh))} have come that hold no rows.${selected.said}",
      considered.copy(filesSkipped = considered.filesConsidered),
      batch = Batch(idle.map(_.directory).toSet))

  private def grown(
      partitions: Seq[(PlacedPartition, LayoutRef)],
      input: Inspection,
      statistics: RunStatistics,
      considered: RunMetrics,
      selected: Selection): Option[BatchResult] = {
    val fresh = plan(partitions.map { case (p, ref) =>
      PinnedPartition(p.directory, p.fresh) -> ref.layout.files
    })
    val source = input.relation(fresh)
    val columns = context.columnsOf(source.plan)
    if (partitions.exists { case (_, ref) => !fits(ref, columns) }) None
    else {
      val tracked = TrackedColumns.of(user, table, source.plan, columns, statistics, input.footersOf(fresh))
      val routes = PartitionLayouts(partitions.map(_._2).toIndexedSeq)
      val counted = progress.step("sample")(count(source, input.rows(fresh), tracked, routes))(c =>
        s"${HumanReadable.count(c.rows.sum, "new row")} counted by file number")
      val forecast = new IncrementForecaster(session, input, tracked, options)
      val grown = progress.step("forecast") {
        partitions.zip(routes.firstFile).map { case ((placed, ref), first) =>
          val growth = forecast.growth(placed, counted.rows.slice(first, first + ref.layout.files))
          Grown(
            placed,
            ref,
            growth,
            growth.decide(options.writeBudget, mayRefit = request.where.isEmpty && placed.later.isEmpty))
        }
      }(g => s"${g.count(_.growing != Growing.Refit)} of ${g.length} partitions grow in their layouts")
      val growing = grown.filter(_.growing != Growing.Refit)
      if (growing.isEmpty) None
      else Some(grow(growing, input, forecast, counted, considered, selected))
    }
  }

  /** A stored layout says nothing of columns whose types have changed since. */
  private def fits(ref: LayoutRef, columns: Seq[ClusterColumn]): Boolean =
    ref.layout.columns.map(_.dataType) == columns.map(_.dataType.sql)

  private def plan(partitions: Seq[(PinnedPartition, Int)]): FilePlan =
    FilePlan(
      partitions.map { case (p, files) => SizedPartition(p, files) }.toIndexedSeq,
      partitions.map(_._1.bytes).sum / math.max(1, partitions.map(_._2).sum),
      "")

  private def count(
      source: InputRelation,
      rows: Long,
      tracked: TrackedColumns,
      routes: PartitionLayouts): Counted = {
    val route = if (routes.refs.length == 1) None else Some(source.route)
    // file numbers without their spread: a heavy value grows in the first of its files
    val file = ZOrderFile(routes, route, tracked.clustering.map(_.expression), None)
    val list: Seq[NamedExpression] =
      tracked.all.zipWithIndex.map { case (c, i) => Alias(c.expression, s"c$i")() } :+ Alias(file, "file")()
    val share = math.min(1.0, Increment.SampledRows.toDouble / math.max(1L, rows))
    Sampler.counted(
      Shims.ofRows(session, Project(list, source.plan)),
      routes.files,
      Sampler.byPlace(share))
  }

  private def grow(
      growing: Seq[Grown],
      input: Inspection,
      forecast: IncrementForecaster,
      counted: Counted,
      considered: RunMetrics,
      selected: Selection): BatchResult = {
    val changed = plan(growing.map { g =>
      PinnedPartition(g.placed.directory, g.placed.fresh ++ Increment.rewritten(g)) -> g.ref.layout.files
    })
    val source = input.relation(changed)
    val onSource = context.columnsOf(source.plan)
    val tasks = Increment.tasks(growing)
    val outlook = forecast.outlook(growing, changed, counted.sample)
    val routes = PartitionLayouts(growing.map(_.ref).toIndexedSeq)
    val layout = s"stored layout ${growing.map(_.ref.id).distinct.mkString(", ")}"
    val kept = Some(forecast.levelsWithout(growing, changed.files))
    val work =
      RewritePlan(input, changed, source, onSource, routes, tasks, layout, outlook, curve, kept)
    val said = growing.map(g => Increment.said(g, options)).mkString(" ")
    val metrics = considered.copy(
      partitionsOptimized = if (!table.partitioned) 0 else growing.length.toLong,
      filesSkipped = considered.filesConsidered - changed.files.length,
      rows = input.rows(changed),
      inputBytes = changed.files.map(_.length).sum,
      targetFileSize = changed.target,
      targetFiles = tasks.count.toLong,
      sampledRows = counted.rows.sum)
    val batch = Batch(
      finished = growing.filter(_.placed.later.forall(_.isEmpty)).map(_.placed.directory).toSet,
      thinned = growing.filter(_.placed.later.isDefined).map(_.placed.directory).toSet)
    val more = selected.said + input.changesSaid
    val steps = new PartitionSteps(context, batches)
    val inSteps = steps.needed(changed, tasks.count, selected)
    if (request.dryRun) {
      val cut = if (inSteps) steps.saidOf(growing.head) else ""
      val reason = DryRunReason.reason(None, said + cut + more)
      BatchResult(RunStatus.DryRun, reason, metrics, layout, Some(outlook), batch = batch)
    } else if (inSteps)
      steps.grown(growing.head, work, metrics, said, more)
    else {
      val written = new Rewriter(context)(work, metrics)
      BatchResult.done(written, s"${written.said} $said$more", layout, batch)
    }
  }
}

private[run] object Increment {
  private val SampledRows = 100000L

  /** The files that are written again: those of the cells, and where all are, those across cells, too. */
  def rewritten(g: Grown): Seq[DataFile] = g.growing match {
    case Growing.Merge(cells) => cells.toSeq.sorted.flatMap(g.placed.settled.getOrElse(_, Nil)) ++ across(g)
    case _ => Nil
  }

  private def across(g: Grown): Seq[DataFile] = g.growing match {
    case Growing.Merge(cells) if cells.size == g.ref.layout.files => g.placed.spanning
    case _ => Nil
  }

  /** The files whose rows move: new ones, and those across cells if all cells are written again. */
  def moved(g: Grown): Seq[DataFile] = g.placed.fresh ++ across(g)

  /** One task for each cell that is merged, or for each file that is appended. */
  def tasks(growing: Seq[Grown]): OutputFiles = {
    val each = growing.map { g =>
      g.growing match {
        case Growing.Merge(cells) =>
          val sorted = cells.toIndexedSeq.sorted
          val place = sorted.zipWithIndex.toMap
          val taskOf = (0 until g.ref.layout.files).map(place.getOrElse(_, 0))
          (sorted.map(n => OutputFile(g.placed.directory, OutputFiles.InPlace, n, n + 1)), taskOf)
        case append: Growing.Append =>
          (OutputFiles.appended(g.placed.directory, append).each, append.fileOf.toIndexedSeq)
        case Growing.Refit => throw new IllegalStateException("a refit is no increment")
      }
    }
    val before = each.scanLeft(0)(_ + _._1.length)
    OutputFiles.some(
      each.flatMap(_._1).toIndexedSeq,
      each.zip(before).flatMap { case ((_, taskOf), n) => taskOf.map(_ + n) }.toIndexedSeq,
      spread = growing.forall(alone))
  }

  /** Whether every cell is written and nothing else lies there: heavy values keep all their files. */
  private def alone(g: Grown): Boolean = g.growing match {
    case Growing.Merge(cells) => cells.size == g.ref.layout.files && g.placed.settled.isEmpty
    case _ => false
  }

  /** What was done, and both numbers that decided it. */
  def said(g: Grown, options: RunOptions): String =
    if (g.placed.later.isDefined) thinnedSaid(g, options.deletedShare) else newSaid(g, options.writeBudget)

  private def thinnedSaid(g: Grown, share: Double): String = {
    val after =
      g.placed.later.filter(_.nonEmpty).fold("")(n => s", and ${HumanReadable.files(n)} will follow")
    s"Of ${HumanReadable.files(g.placed.fresh)} more than ${HumanReadable.percent(share)} of the rows are deleted (deletedShare): they " +
      s"are written again without those$after."
  }

  private def newSaid(g: Grown, budget: Double): String = {
    val where = if (g.placed.directory.isEmpty) "" else s" of ${g.placed.directory}"
    val count = HumanReadable.files(g.placed.fresh)
    val amplification = HumanReadable.tenths(g.growth.amplification)
    g.growing match {
      case Growing.Merge(cells) =>
        s"$count$where fell into ${cells.size} of ${g.ref.layout.files} cells and were merged there, $amplification " +
          s"bytes written per byte appended (writeBudget is ${HumanReadable.tenths(budget)})."
      case append: Growing.Append =>
        s"$count$where lie across the cells, and merging them would write $amplification bytes per byte appended " +
          s"(writeBudget is ${HumanReadable.tenths(budget)}): in layout order they are " +
          s"${HumanReadable.count(append.files.toLong, "file")} of their own."
      case Growing.Refit => s"The partition$where is clustered anew."
    }
  }
}

package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.fit.LayoutLookUp
import org.apache.spark.sql.zorder.run.inspect.ResolvedRequest
import org.apache.spark.sql.zorder.run.plan.{PlacedPartition, Placement}
import org.apache.spark.sql.zorder.run.report.{HumanReadable, RunMetrics, RunStatus}
import org.apache.spark.sql.zorder.run.request.RunContext
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * One batch: finds out which files are new to the table's layout, and lets them grow in it, or has the
 * partitions clustered anew, or takes a large partition a step further.
 */
final private[run] class BatchRun(context: RunContext, batches: Batches) {
  import context._

  def apply(): BatchResult = {
    val all = table.files()
    if (request.changes) table.recover()
    val found = progress.step("schema")(ResolvedRequest.in(context, all))(f =>
      HumanReadable.count(f.schema.length.toLong, "column"))
    if (all.isEmpty) BatchResult.empty(table.name, "files", RunMetrics(startTimeMs = startedMs))
    else selected(all, found)
  }

  private def selected(all: Seq[DataFile], found: ResolvedRequest): BatchResult = {
    val selected = progress.step("select")(select(all, found)) { s =>
      s"${HumanReadable.files(s.files)} to cluster, ${s.kept.length} left alone"
    }
    table.check(selected.files)
    val considered = RunMetrics(
      filesConsidered = all.length.toLong,
      filesSkipped = selected.kept.length.toLong,
      startTimeMs = startedMs)
    if (selected.files.isEmpty) {
      val hint = if (overlap) "" else " WITH (overlap = 'include') takes those too that it overlaps."
      val which = if (overlap) "overlaps" else "lies wholly inside"
      BatchResult(RunStatus.NothingToDo, s"No file $which WHERE ${selected.where}.$hint", considered)
    } else if (request.into.isDefined) new NewLayout(context, batches)(found, selected, considered, Batch())
    else if (request.full && batches.underway.isEmpty) full(found, selected, considered)
    else placed(found, selected, considered)
  }

  private def select(all: Seq[DataFile], found: ResolvedRequest): Selection = found.where match {
    case None => Selection(all, Nil)
    case Some(where) =>
      val statColumns = found.statistics.columns
      Selection(pinned, table, found.schema, all, where, overlap, statColumns)
  }

  /** Everything anew, whatever its place is. */
  private def full(found: ResolvedRequest, selected: Selection, considered: RunMetrics): BatchResult = {
    val batch =
      next(selected.files.groupBy(_.partition).map { case (p, files) => p -> files.map(_.length).sum }.toSeq)
    val others = selected.files.filterNot(f => batch.finished(f.partition))
    new NewLayout(context, batches)(found, selected.without(others), considered, batch)
  }

  /** A dry run looks at all partitions at once. */
  private def next(partitions: Seq[(String, Long)]): Batch =
    if (request.dryRun) Batch(partitions.map(_._1).toSet) else batches.next(partitions.sorted)

  /** Leaves what is in place alone, lets what has a layout grow in it, and clusters the rest. */
  private def placed(found: ResolvedRequest, selected: Selection, considered: RunMetrics): BatchResult = {
    val placement = new Placement(table, found.columns, curve, options, batches).of(selected)
    val waiting = placement.filterNot(_.inPlace).map(p => p.directory -> p.all.map(_.length).sum)
    val underway = placement.find(p =>
      if (batches.underway.isDefined) batches.underway.exists(_.directory == p.directory)
      else p.gathered.nonEmpty)
    val batch = next(waiting)
    val (moving, settled) = placement.partition(p => batch.finished(p.directory))
    underway match {
      case Some(p) =>
        val others = waiting.map(_._1).filterNot(_ == p.directory)
        new PartitionSteps(context, batches).next(p, found, considered, others, selected.said)
      case None if moving.isEmpty => nothingNew(selected, considered)
      case None =>
        val known =
          moving.flatMap(p => p.layoutId.flatMap(table.state.layout).map(l => p -> LayoutLookUp.ofJson(l)))
        val thin = known.collect { case (p, ref) if p.thinned.nonEmpty => p.thinnedFirst -> ref }
        val growing = if (thin.isEmpty) known else thin
        val grew =
          if (growing.isEmpty) None
          else new Increment(context, batches)(growing, found.statistics, considered, selected)
        def begun(ending: BatchResult) = ending.batch.finished ++ ending.batch.underway.map(_.directory)
        def anew(left: Seq[PlacedPartition]) =
          new NewLayout(context, batches)(found, selected.without(left.flatMap(_.all)), considered, batch)
        // what has to be clustered anew is another commit
        def others(ending: BatchResult) = moving.filterNot(p => begun(ending)(p.directory))
        grew match {
          case None => anew(settled)
          case Some(ending) if !request.dryRun =>
            ending.copy(batch = ending.batch.copy(left = others(ending).map(_.directory) ++ batch.left))
          case Some(ending) if ending.status == RunStatus.NothingToDo && others(ending).nonEmpty =>
            anew(settled ++ moving.filter(p => begun(ending)(p.directory)))
          case Some(ending) => ending
        }
    }
  }

  private def nothingNew(selected: Selection, considered: RunMetrics): BatchResult = BatchResult(
    RunStatus.NothingToDo,
    s"${if (selected.kept.isEmpty) "All" else "These"} ${selected.files.length} files are in this layout already; " +
      s"FULL rewrites them all the same.$unread${selected.said}",
    considered.copy(filesSkipped = considered.filesConsidered))

  /** Rows would have to be sampled to compare layouts, and a run that changes nothing reads none. */
  private def unread: String =
    if (log.exists(_.queries.nonEmpty))
      " The query log has not been looked at: FULL with DRY RUN tells what a layout for it would gain."
    else ""
}

package org.apache.spark.sql.zorder.run

import java.util.UUID

import scala.annotation.tailrec

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderException
import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.fit.{LayoutLookUp, Sample}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.{Footers, SchemaUnion}
import org.apache.spark.sql.zorder.table.{ClusterTable, DataFile, TableResolver}
import org.apache.spark.sql.zorder.workload.{LogBoxes, QueryLog}
import sparkzorder.curve.cost.Query

/**
 * One clustering run from statement to result row: select, sample, fit, forecast, rewrite, verify, commit,
 * report. Nothing of the table changes before the commit; whatever fails before it leaves no trace.
 */
object ClusteringRun {
  val resultSchema: StructType = RunReport.schema

  def run(session: SparkSession, request: ClusterRequest): Row = {
    val user = Shims.classic(session)
    val table = TableResolver.open(user, request.target)
    val options = RunOptions.merge(
      request.options,
      table.properties,
      RunOptions.inSession(table.formatOptions) ++ user.conf.getAll)
    val now = System.currentTimeMillis()
    val runId = UUID.randomUUID().toString.take(8)
    val progress = new Progress(user, runId, table.name)
    Unreadable.explained(table.name) {
      val first = new ClusteringRun(user, request, table, options, progress, new Batches(options, now))
      inBatches(first, () => TableResolver.open(user, request.target)).row
    }
  }

  /** Batch by batch, each on the table as the one before it has left it. */
  @tailrec
  private def inBatches(
      run: ClusteringRun,
      opened: () => ClusterTable,
      before: Option[RunReport] = None): RunReport = {
    val report = before.foldLeft(run.reportAndClose())((now, earlier) => earlier.and(now))
    val why = run.batches.ended(report)
    if (run.left.isEmpty) report
    else if (why.isDefined)
      report.partial(s"${why.get}, and ${Said.count(run.left.length.toLong, "partition")} " +
        "are left: the same statement goes on there.")
    else inBatches(run.next(opened()), opened, Some(report))
  }
}

final private class ClusteringRun(
    user: Shims.ClassicSession,
    request: ClusterRequest,
    table: ClusterTable,
    options: RunOptions,
    progress: Progress,
    val batches: Batches) {
  private val started = System.currentTimeMillis()
  private val curve = Curves.checked(request.curve)
  private val by = ClusteredBy.of(request, table)
  private val log: Option[QueryLog] = QueryLog.of(user, options).map(_.on(user, table))

  private var batch = Batch(Set.empty, Nil)

  /** Partitions that wait for another batch. */
  def left: Seq[String] = batch.left

  def next(again: ClusterTable): ClusteringRun =
    new ClusteringRun(user, request, again, options, progress, batches.after(batch.partitions))

  def reportAndClose(): RunReport =
    try report()
    finally table.close()

  private def report(): RunReport = {
    val all = table.files()
    if (all.isEmpty) refuse(s"${table.name} has no files: write rows into it first.")
    val found = progress.step("schema")(resolved(all))(f => Said.count(f.schema.length.toLong, "column"))
    val selected = progress.step("select")(select(all, found)) { s =>
      s"${Said.files(s.files)} to cluster, ${s.kept.length} left alone"
    }
    val considered = RunMetrics(
      filesConsidered = all.length.toLong,
      filesSkipped = selected.kept.length.toLong,
      startTimeMs = started)
    if (selected.files.isEmpty) {
      val hint = if (overlap) "" else " WITH (overlap = 'include') takes those too that it overlaps."
      val which = if (overlap) "overlaps" else "lies wholly inside"
      ended(RunStatus.NothingToDo, s"No file $which WHERE ${selected.where}.$hint", considered)
    } else if (request.into.isDefined) cluster(found, selected, considered)
    else if (request.full) {
      begin(selected.files.groupBy(_.partition).map { case (p, files) => p -> files.map(_.length).sum }.toSeq)
      cluster(
        found,
        selected.without(selected.files.filterNot(f => batch.partitions(f.partition))),
        considered)
    } else placed(found, selected, considered)
  }

  /** A dry run looks at all partitions at once. */
  private def begin(partitions: Seq[(String, Long)]): Unit =
    batch = if (request.dryRun) Batch(partitions.map(_._1).toSet, Nil) else batches.next(partitions.sorted)

  /** Leaves what is in place alone, lets what has a layout grow in it, and clusters the rest. */
  private def placed(found: Found, selected: Selection, considered: RunMetrics): RunReport = {
    val placement = new Placement(table, found.columns.map(_.sql), curve, options).of(selected)
    begin(placement.filterNot(_.inPlace).map(p => p.directory -> p.all.map(_.length).sum))
    val (moving, settled) = placement.partition(p => batch.partitions(p.directory))
    if (moving.isEmpty)
      ended(
        RunStatus.NothingToDo,
        s"${if (selected.kept.isEmpty) "All" else "These"} ${selected.files.length} files are in this layout already; " +
          s"FULL rewrites them all the same.$unread${selected.said}",
        considered.copy(filesSkipped = considered.filesConsidered))
    else {
      val growing =
        moving.flatMap(p => p.layoutId.flatMap(table.state.layout).map(l => p -> LayoutLookUp.ofJson(l)))
      val grew =
        if (growing.isEmpty) None
        else
          new Increment(user, table, request, options, progress, by, curve, started)(
            growing,
            found.statistics,
            considered)
      grew match {
        case None => cluster(found, selected.without(settled.flatMap(_.all)), considered)
        case Some(g) =>
          // what has to be clustered anew is another commit
          val others = moving.map(_.directory).filterNot(g.partitions)
          if (!request.dryRun) batch = Batch(g.partitions, others ++ batch.left)
          ended(g.status, g.reason + selected.said, g.metrics, g.layout, Some(g.outlook), g.root)
      }
    }
  }

  /** The clustering columns and the condition, the schema they were found in, and what footers shall tell. */
  private case class Found(
      schema: StructType,
      columns: Seq[ClusterColumn],
      where: Option[WhereCondition],
      statistics: RunStatistics)

  /** A path's schema is that of one of its files: a column that it lacks may be in others. */
  private def resolved(files: Seq[DataFile]): Found =
    try resolved(table.schema, files.length)
    catch {
      case e: ZOrderException if table.declared.isEmpty =>
        val union = SchemaUnion.of(Footers.read(user, files), None, caseSensitive = true)
        if (union.schema.fieldNames.forall(table.schema.fieldNames.contains)) throw e
        resolved(StructType(union.schema ++ table.partitionSchema), files.length)
    }

  private def resolved(schema: StructType, files: Int): Found = {
    val partitionColumns = table.partitionSchema.fieldNames.toSeq
    val columns = ClusterColumns.resolve(user, table, schema, by)
    if (!options.force && request.into.isEmpty)
      table.unskippable(columns.flatMap(_.path)).foreach(why =>
        refuse(s"$why WITH (force = true) does it all the same."))
    val asked = log.fold(Set.empty[String])(_.queries.flatMap(_.boxes).flatten.map(_.column).toSet)
    Found(
      schema,
      columns,
      request.where.map(WhereCondition.resolve(user, table.name, schema, partitionColumns, _)),
      Screening.statistics(schema, table.constantColumns, columns, asked, files))
  }

  /** Rows would have to be sampled to compare layouts, and a run that changes nothing reads none. */
  private def unread: String =
    if (log.exists(_.queries.nonEmpty))
      " The query log has not been looked at: FULL with DRY RUN tells what a layout for it would gain."
    else ""

  private def overlap: Boolean = options.overlap == "include"

  private def select(all: Seq[DataFile], found: Found): Selection = found.where match {
    case None => Selection(all, Nil)
    case Some(where) =>
      val statColumns = found.statistics.columns
      Selection(PinnedSession.of(user), table, found.schema, all, where, overlap, statColumns)
  }

  private def cluster(found: Found, selected: Selection, considered: RunMetrics): RunReport = {
    val pinned = PinnedSession.of(user)
    val input = progress.step("footers") {
      Inspection(pinned, table, selected, found.statistics, options)
    }(_.said)
    val plan = FilePlan(input.partitions, table.partitioned, options, request.into.isDefined)
    if (plan.partitions.isEmpty) ended(RunStatus.TooSmall, plan.tooSmall + selected.said, considered)
    else {
      val source = input.relation(plan)
      val constant = table.constantColumns
      val columns = ClusterColumns.on(user, table.name, source.plan, constant, by)
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
      val metrics = planned(considered, work).copy(
        sampledRows = sampled.rows.toLong,
        cost = RunCost.of(pinned, source, footers, tracked, input.statistics, options))
      decided(pinned, work, fitted, selected, metrics)
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
      pinned: Shims.ClassicSession,
      work: Work,
      fitted: Fitted,
      selected: Selection,
      metrics: RunMetrics): RunReport = {
    import work.{outlook, plan}
    val more = logSaid + selected.said
    if (request.dryRun)
      ended(
        RunStatus.DryRun,
        outlook.said + "." + outlook.warning + more,
        metrics,
        fitted.said,
        Some(outlook))
    else if (!options.force && request.into.isEmpty && outlook.gain < options.minGain) {
      val reason = new NoGain(outlook, plan, fitted).reason(options.minGain)
      ended(RunStatus.NoGain, reason + more, metrics, fitted.said, Some(outlook))
    } else {
      val written = new WriteOut(pinned, table, request, options, progress, started)(work, metrics)
      ended(
        RunStatus.Done,
        written.said + outlook.warning + more,
        written.metrics,
        fitted.said,
        Some(written.outlook),
        written.root)
    }
  }

  private def logSaid: String = log.filter(_.queries.isEmpty)
    .fold("")(l => s" The query log ${l.name} has no query on ${table.name}: the columns were weighed alike.")

  private def ended(
      status: RunStatus,
      reason: String,
      metrics: RunMetrics,
      layout: String = "",
      outlook: Option[Outlook] = None,
      root: Path = table.root): RunReport = {
    progress.say(s"${status.name.toLowerCase(java.util.Locale.ROOT)}: $reason")
    val report = RunReport(
      root.toString,
      status,
      reason,
      progress.runId,
      layout,
      metrics.copy(endTimeMs = System.currentTimeMillis(), stepMs = progress.stepMs),
      outlook)
    RunSource.add(report)
    report
  }
}

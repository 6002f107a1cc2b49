package org.apache.spark.sql.zorder.clustering

import java.util.Locale

import scala.annotation.tailrec

import org.apache.spark.sql.{Row, SparkSession}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.NoRowsYetException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.clustering.fit.LayoutLookUp
import org.apache.spark.sql.zorder.clustering.inspect.UnreadableFiles
import org.apache.spark.sql.zorder.clustering.plan.{PlacedPartition, Placement}
import org.apache.spark.sql.zorder.clustering.report.{
  HumanReadable,
  RunMetrics,
  RunReport,
  RunSource,
  RunStatus
}
import org.apache.spark.sql.zorder.clustering.request.{ClusterRequest, Progress, RunContext, TableOptions}
import org.apache.spark.sql.zorder.clustering.rewrite.Rewriter
import org.apache.spark.sql.zorder.clustering.select.{Selection, WhereCondition, WorstFiles}
import org.apache.spark.sql.zorder.querylog.QueryLog
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.make.IndexUpkeep
import org.apache.spark.sql.zorder.table.{ClusterTable, SessionRefresh, StateDir, TableRef}
import org.apache.spark.sql.zorder.table.file.PinnedPartition
import org.apache.spark.sql.zorder.table.resolve.{IntoTarget, TableResolver}
import org.apache.spark.sql.zorder.table.storage.{DriverReads, RunClaim}

/**
 * One clustering run from the statement to its result row. It opens the table and runs one `BatchRun` after
 * the other, each of which is one commit. Nothing of the table changes before a commit; a failure before it
 * leaves no trace.
 */
object ClusteringRun {
  val resultSchema: StructType = RunReport.schema

  def run(session: SparkSession, request: ClusterRequest): Row = {
    val user = Shims.classic(session)
    val report =
      try openAndRun(user, request)
      catch {
        case e: NoRowsYetException =>
          RunReport(request.target.text, RunStatus.TooSmall, e.sentence, "", "", RunMetrics())
      }
    RunSource.ended(if (request.dryRun) RunStatus.DryRun else report.status)
    report.row
  }

  private def openAndRun(user: Shims.ClassicSession, request: ClusterRequest): RunReport = {
    val target = new RunTarget(user, request)
    val table = target.open()
    if (request.changes) table.refusalWithoutConsent.foreach(refused => throw refused)
    val options = TableOptions.of(table, request.options, user)
    val progress = Progress.of(user, table)
    withClaim(user, table, progress.runId, options, request.changes)(UnreadableFiles.explained(table.name) {
      if (request.into.isEmpty) table.checkBeforeRun()
      else if (!request.dryRun) request.into.foreach(IntoTarget.open(user, _, table))
      val index = if (request.changes) IndexUpkeep.before(user, table) else None
      val disks = new LocalDisks(user)
      val batches = new Batches(options, System.currentTimeMillis(), disks.free)
      lazy val log = QueryLog.of(user, options).map(_.on(user, table))
      // a batch that begins after midnight selects by the day on which the statement began
      var where: Option[WhereCondition] = None
      def contextOn(now: ClusterTable) = {
        val context = RunContext.on(now, user, request, options, progress, log, where)
        where = context.where
        context
      }
      // once for all batches, and for those that stand when one fails
      try runBatches(table, contextOn, batches, target, index, request.full)
      catch { case e: Throwable => progress.cancelJobs(); throw e }
      finally index.foreach(_.afterCommits(target.ref))
    })
  }

  /** Lets other runs see that one is at work on the table. */
  private def withClaim[A](
      user: Shims.ClassicSession,
      table: ClusterTable,
      runId: String,
      options: RunOptions,
      changes: Boolean)(body: => A): A = {
    val files = if (changes) table.claims(user, Seq(table.root)).headOption else None
    val claim = files.flatMap(RunClaim.take(_, table.name, runId, options.skipIfRunning))
    try body
    finally claim.foreach(_.close())
  }

  /**
   * Runs batch after batch, each on the table as the one before has left it.
   *
   * @param contextOn
   *   resolves the statement against the table of a batch
   * @param full
   *   whether the statement says FULL
   */
  @tailrec
  private def runBatches(
      table: ClusterTable,
      contextOn: ClusterTable => RunContext,
      batches: Batches,
      target: RunTarget,
      index: Option[IndexUpkeep],
      full: Boolean,
      earlier: Option[RunReport] = None): RunReport = {
    val result = runBatch(table, contextOn, batches, target, index)
    val report = earlier.fold(result.report)(_.and(result.report))
    val limit = batches.limitReached(report)
    if (result.batch.isLast) report
    else if (limit.isDefined)
      report.partial(s"${limit.get}, and ${result.batch.remaining}: ${result.batch.goesOn(full)}.")
    else {
      // Spark deletes a batch's shuffle files only after the garbage collector has freed their dependencies
      System.gc()
      runBatches(target.open(), contextOn, batches.after(result.batch), target, index, full, Some(report))
    }
  }

  private def runBatch(
      table: ClusterTable,
      contextOn: ClusterTable => RunContext,
      batches: Batches,
      target: RunTarget,
      index: Option[IndexUpkeep]): BatchResult = {
    val rootBefore = table.root
    try {
      val context = contextOn(table)
      import context.{request, user}
      val result = new BatchRun(context, batches).apply()
      if (request.changes && result.report.status == RunStatus.Done) {
        SessionRefresh(user, target.ref, Seq(rootBefore, table.root))
        index.foreach(_.committed())
      }
      result.copy(report = ended(context, result))
    } finally table.close()
  }

  private def ended(context: RunContext, result: BatchResult): RunReport = {
    import context.progress
    val reason = result.report.reason + unfinished(context).fold("")(" " + _)
    val report = result.report.copy(reason = reason).timed(progress.stepMs)
    progress.announce(s"${report.status.name.toLowerCase(Locale.ROOT)}: ${report.fullReason}")
    RunSource.wrote(report)
    report
  }

  /** What a statement that changes nothing has found unfinished, or not agreed to. */
  private def unfinished(context: RunContext): Option[String] =
    if (context.request.changes) None
    else
      context.table.unfinished.orElse(
        context.request.into match {
          case _ if !context.request.dryRun => None
          case Some(path) => IntoTarget.refusal(context.user, path, context.table)
          case None => context.table.obstacle.orElse(context.table.refusalWithoutConsent.map(_.sentence))
        })
}

/**
 * The table of a statement by the name that it has where the statement begins: another thread of the session may say
 * `USE` meanwhile.
 */
final private class RunTarget(user: Shims.ClassicSession, request: ClusterRequest) {
  private val begun: Option[Seq[String]] = request.target match {
    case _: TableRef.Location => None
    case _ => Some(place)
  }

  private def place: Seq[String] = {
    val catalogs = user.sessionState.catalogManager
    catalogs.currentCatalog.name +: catalogs.currentNamespace.toSeq
  }

  def ref: TableRef = begun.filter(_ != place).fold(request.target)(TableRef.in(user, _, request.target))

  def open(): ClusterTable =
    if (request.changes) TableResolver.open(user, ref, request.options)
    else TableResolver.locate(user, ref, request.options)
}

/**
 * One batch: selects the files, plans what to do with them, and carries the plan out in one commit. The plan
 * is a new layout (`NewLayoutPlanner`), an increment of a stored one (`IncrementPlanner`), or the next step
 * of a partition that is too large for one commit (`PartitionStepRunner`).
 */
final private class BatchRun(context: RunContext, batches: Batches) {
  import context._

  def apply(): BatchResult =
    if (files.isEmpty) BatchResult(context.tooSmall("files", Selection(Nil, Nil)))
    else {
      val selected = progress.step("select")(select()) { s =>
        s"${HumanReadable.files(s.files)} to cluster, ${s.leftAlone} left alone"
      }
      table.check(selected.files)
      if (selected.files.isEmpty) noFileSelected(selected)
      else if (request.into.isDefined) newLayout(selected, Batch())
      else if (request.full && beginsPartitions(selected)) full(selected)
      else byPlacement(selected)
    }

  /**
   * Whether the batch takes partitions that none before it has taken. Others may have removed the one whose
   * steps would come next.
   */
  private def beginsPartitions(selected: Selection): Boolean = {
    val partitions = selected.files.map(_.partition).toSet
    batches.underway.forall(u => !partitions(u.directory)) && !partitions.forall(batches.isDone)
  }

  private def select(): Selection = {
    val owners = if (request.full || request.into.isDefined) Nil else files.flatMap(table.otherClusterer)
    val free = if (owners.isEmpty) files else files.filter(table.otherClusterer(_).isEmpty)
    val matching = where match {
      case None => Selection(free, Nil)
      case Some(condition) =>
        Selection(pinned, table, schema, free, condition, overlap, statistics.columns)
    }
    val byClusterer = owners.groupBy(identity).map { case (name, all) => name -> all.length }
    val own = matching.copy(ofClusterers = byClusterer)
    if (options.worstFiles < 1.0) worst(own) else own
  }

  private def worst(matching: Selection): Selection =
    if (request.into.isDefined)
      refuse("ZORDER_INVALID_OPTION.WORST_FILES_OF_COPY")
    else if (statistics.clustering == 0)
      refuse("ZORDER_INVALID_OPTION.WORST_FILES_OF_EXPRESSIONS")
    else new WorstFiles(pinned, statistics.columns, statistics.clustering).of(matching, options.worstFiles)

  private def noFileSelected(selected: Selection): BatchResult = {
    val reason =
      if (selected.worst)
        s"The file statistics show no unnecessary file reads.${selected.summary}"
      else if (where.isEmpty) s"No file is left to cluster.${selected.summary}"
      else {
        val hint = if (overlap) "" else " WITH (overlap = 'include') also takes files that only overlap it."
        val which = if (overlap) "overlaps" else "lies wholly inside"
        s"No file $which WHERE ${selected.where}.$hint${selected.clusterersNote}"
      }
    BatchResult(context.report(selected).nothingToDo(reason))
  }

  /** Clusters all selected files anew, wherever they are in a layout. */
  private def full(selected: Selection): BatchResult = {
    val partitions = PinnedPartition.of(selected.files)
    val all = next(partitions.map(p => WaitingPartition(p.directory, p.files)).sortBy(_.directory))
    // in one batch no order counts
    val batch = if (all.left.isEmpty) all else next(WaitingPartition.inOrder(context, partitions))
    val later = selected.files.filterNot(f => batch.finished(f.partition))
    newLayout(selected.without(later), batch)
  }

  /**
   * The partitions of this batch; a dry run looks at all partitions at once.
   *
   * @param partitions
   *   in the order in which they are taken
   */
  private def next(partitions: Seq[WaitingPartition]): Batch =
    if (request.dryRun) Batch(partitions.map(_.directory).toSet)
    else batches.next(partitions, tableBytes)

  /** Leaves partitions in place alone, continues a partition that is underway, and clusters the others. */
  private def byPlacement(selected: Selection): BatchResult = {
    val toMove = batches.underway.fold(Set.empty[String])(_.waiting)
    val ownSteps = batches.underway.map(_.directory)
    val placement =
      new Placement(table, columns, curve, options, toMove, batches.deletesRewritten, ownSteps).of(selected)
    val waiting = placement.filterNot(_.nothingToDo).map(p => WaitingPartition(p.directory, p.all))
      .sortBy(_.directory)
    val underway = placement.find(p =>
      if (batches.underway.isDefined) batches.underway.exists(_.directory == p.directory)
      else p.byRegion.nonEmpty)
    val batch = next(waiting)
    val (moving, staying) = placement.partition(p => batch.finished(p.directory))
    underway match {
      case Some(p) =>
        // FULL takes those in place, too; what came to a finished one since is left to the next statement
        val open = if (request.full) placement else placement.filterNot(_.nothingToDo)
        val left = open.filterNot(o => o.directory == p.directory || batches.isDone(o.directory))
        new PartitionStepRunner(context, batches).next(p, selected, left).getOrElse {
          val elsewhere = placement.filterNot(_.directory == p.directory).flatMap(_.all)
          newLayout(selected.without(elsewhere), Batch(Set(p.directory), left.map(_.directory)))
        }
      case None if moving.isEmpty => allInPlace(selected, placement.count(_.leavesSteps))
      case None => incrementOrNewLayout(selected, moving, staying, batch)
    }
  }

  /**
   * Partitions with a layout grow in it; those that have to be clustered anew are another commit. Where that
   * would gain too little, new rows still grow in the layout that is outgrown, or they would wait for good.
   *
   * @param leftAsIs
   *   how clustering these partitions anew has ended, if it was tried and nothing was written
   * @param before
   *   of a dry run: bytes that batches of the run read before these
   */
  private def incrementOrNewLayout(
      selected: Selection,
      moving: Seq[PlacedPartition],
      staying: Seq[PlacedPartition],
      batch: Batch,
      leftAsIs: Option[BatchResult] = None,
      before: Seq[Long] = Nil): BatchResult = {
    def clusterAnew(except: Seq[PlacedPartition], read: Seq[Long]): BatchResult = {
      val anew = newLayout(
        selected.without(except.flatMap(_.all)),
        batch,
        grown = moving.filter(_.layoutId.isDefined).map(_.directory).toSet,
        before = read)
      val same = except.map(_.directory).toSet
      val tried = moving.filterNot(p => same(p.directory))
      if (leftAsIs.isEmpty && BatchRun.leftAsIs(anew) && tried.exists(_.layoutId.isDefined))
        incrementOrNewLayout(selected, tried, except, batch, Some(anew), read)
      else anew
    }
    def said(result: BatchResult): BatchResult =
      if (leftAsIs.isEmpty) result
      else {
        val reason = Seq(result.report.reason, BatchRun.StaysInLayout).filter(_.nonEmpty).mkString(" ")
        result.copy(report = result.report.copy(reason = reason))
      }
    def handled(result: BatchResult): Set[String] =
      result.batch.finished ++ result.batch.underway.map(_.directory)
    // each of those without a layout is too small by itself; what they gain was judged with the others
    val isSmall = leftAsIs.exists(_.report.status == RunStatus.TooSmall)
    val small = if (isSmall) moving.filter(_.layoutId.isEmpty).map(_.directory) else Nil
    def leftAfter(result: BatchResult): Seq[String] =
      moving.map(_.directory).filterNot(handled(result)).filterNot(small.contains(_)) ++ batch.left
    increment(selected, moving, gains = leftAsIs.isEmpty, before).map(said) match {
      case None => leftAsIs.getOrElse(clusterAnew(staying, before))
      case Some(result) if !request.dryRun =>
        result.copy(batch =
          result.batch.copy(finished = result.batch.finished ++ small, left = leftAfter(result)))
      case Some(result) =>
        val read = before :+ result.report.metrics.inputBytes
        // partitions whose files with deletes come first grow in their layouts afterwards
        val (later, known) = moving.partition(p =>
          !handled(result)(p.directory) && !result.batch.deletesRewritten(p.directory))
        val all =
          if (later.isEmpty) result
          else {
            val rest =
              if (moving.exists(_.withDeletes.nonEmpty))
                incrementOrNewLayout(selected, later, staying ++ known, batch, leftAsIs, read)
              else clusterAnew(staying ++ known, read)
            if (result.report.status == RunStatus.NothingToDo) rest
            else result.copy(report = result.report.and(rest.report))
          }
        // a run that has committed this ends at its limit whatever the others would gain
        val limit = if (leftAfter(result).isEmpty) None else batches.limitByReads(read :+ 0L)
        all.copy(report = all.report.copy(limit = all.report.limit.orElse(limit)))
    }
  }

  /** None if no partition can grow in its layout. */
  private def increment(
      selected: Selection,
      moving: Seq[PlacedPartition],
      gains: Boolean,
      before: Seq[Long]): Option[BatchResult] = {
    val state = table.state
    val layouts = DriverReads.each(moving.flatMap(_.layoutId).distinct, StateDir.Readers) { id =>
      state.layout(id).map(json => id -> LayoutLookUp.stored(id, json))
    }.flatten.toMap
    val known = for {
      p <- moving
      id <- p.layoutId
      ref <- layouts.get(id)
    } yield p -> ref
    val withDeletes = known.collect { case (p, ref) if p.withDeletes.nonEmpty => p.withDeletesFirst -> ref }
    val growing = if (withDeletes.isEmpty) known else withDeletes
    if (growing.isEmpty) None
    else new IncrementPlanner(context, batches, before)(growing, selected, gains).map(carryOut)
  }

  private def newLayout(
      selected: Selection,
      batch: Batch,
      grown: Set[String] = Set.empty,
      before: Seq[Long] = Nil): BatchResult =
    carryOut(new NewLayoutPlanner(context, batches, before)(selected, batch, grown))

  /** Rewrites and commits what is planned, or its first step. */
  private def carryOut(planned: Planned): BatchResult = planned match {
    case Planned.Ended(result) => result
    case Planned.Rewrite(plan, batch) if batch.underway.isDefined =>
      new PartitionStepRunner(context, batches).first(plan, batch)
    case Planned.Rewrite(plan, batch) =>
      val written = new Rewriter(context)(plan)
      val reason = Seq(written.reason, plan.remarks).filter(_.nonEmpty).mkString(" ")
      BatchResult(written.copy(reason = reason), batch)
  }

  /** @param unfinished partitions whose steps have not ended, and of which the statement leaves out files */
  private def allInPlace(selected: Selection, unfinished: Int): BatchResult = {
    val all = selected.leftAlone == 0
    val reason =
      if (unfinished == 0) {
        val (which, them) =
          if (selected.files.length == 1) (if (all) "The only file is" else "This file is", "it")
          else (s"${if (all) "All" else "These"} ${selected.files.length} files are", "them")
        s"$which in this layout already; FULL rewrites $them anyway." + logNotRead
      } else {
        val place =
          if (table.partitioned) HumanReadable.count(unfinished.toLong, "partition") else "the table"
        s"The steps of an earlier run over $place are unfinished: a statement that leaves out no files, by WHERE " +
          "or worstFiles, continues them."
      }
    BatchResult(context.report(selected).nothingToDo(reason + selected.summary))
  }

  /** Comparing layouts takes sampled rows, and a run that changes nothing reads none. */
  private def logNotRead: String =
    if (log.exists(_.queries.nonEmpty))
      " The query log was not used: FULL with DRY RUN shows what a layout for it would gain."
    else ""
}

private object BatchRun {
  private val StaysInLayout =
    "A new layout would gain too little, or have too few files, so that the stored one stays."

  /** Whether nothing was written because a new layout would gain too little. */
  private def leftAsIs(result: BatchResult): Boolean =
    Seq(RunStatus.NoGain, RunStatus.TooSmall).contains(result.report.status)
}

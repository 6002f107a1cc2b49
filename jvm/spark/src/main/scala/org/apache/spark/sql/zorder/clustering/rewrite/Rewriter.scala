package org.apache.spark.sql.zorder.clustering.rewrite

import java.util.Locale

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project, RepartitionByExpression, Sort}
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.ZOrder
import org.apache.spark.sql.zorder.expr.layout.{
  LayoutRef,
  PartitionLayouts,
  ToPartition,
  ZOrderFile,
  ZOrderKey,
  ZOrderPages
}
import org.apache.spark.sql.zorder.clustering.fit.{LayoutJson, Levels, TruncatedBounds}
import org.apache.spark.sql.zorder.clustering.forecast.{Forecast, PlannedPages}
import org.apache.spark.sql.zorder.clustering.inspect.{Inspection, SomePages, WrittenBloomFilters}
import org.apache.spark.sql.zorder.clustering.plan.{FilePlan, OutputPlan}
import org.apache.spark.sql.zorder.clustering.report.{HumanReadable, RunReport, RunStatus}
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, RunContext}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{Checksum, Footers, LeafColumn, Verification}
import org.apache.spark.sql.zorder.table.{
  CommitRequest,
  Operation,
  RecordedFile,
  RunRecord,
  TableWrite,
  WrittenFile
}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PartitionValues, RowGroupLimit}
import org.apache.spark.sql.zorder.table.resolve.IntoTarget
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint}
import sparkzorder.curve.page.PageCut

/**
 * One rewrite: which files are read, and which rows of them are written to which files.
 *
 * @param report
 *   the result row as far as it is known without these files
 * @param files
 *   the files to rewrite
 * @param source
 *   the rows of these files, without those that others removed meanwhile; made when they are asked for
 * @param pages
 *   the pages of the files to write
 * @param layouts
 *   those that the rows are cut by
 * @param recorded
 *   those that the record gives the partitions, if they were stored before
 * @param kept
 *   blocks that stay beside those that are written, if a run changes a part of a partition
 * @param rebased
 *   what others removed meanwhile, if they did
 * @param remarks
 *   sentences that end the reason of the result, but not in the run's record
 */
final private[clustering] case class RewritePlan(
    report: RunReport,
    input: Inspection,
    files: FilePlan,
    source: () => InputRelation,
    columns: Seq[ClusterColumn],
    layouts: PartitionLayouts,
    outputs: OutputPlan,
    forecast: Forecast,
    pages: PageCut,
    recorded: Option[IndexedSeq[LayoutRef]] = None,
    kept: Option[Levels] = None,
    rebased: Option[Rebased] = None,
    remarks: String = "") {

  /**
   * Whether the rows of its files are cut at the borders of these pages: where the mean file's are foreseen.
   */
  private[rewrite] def cutsPages: Boolean = input.ordersPages && pages.foresees(rowsPerFile)

  /**
   * How to have pages cut where files have several row groups that the writer cannot count; ends the reason
   * of a result.
   */
  def rowGroupNote: String = {
    val byPages = layouts.refs.exists(_.layout.compiled.pageSides.isDefined)
    val bytes = input.rowGroupBytes * pages.rowGroupsAFile(rowsPerFile)
    if (!input.ordersPages || !byPages || pages.foresees(rowsPerFile) || bytes > RewritePlan.LargeRowGroup) ""
    else
      " Rows of files with several row groups follow a curve, which pages cut anywhere; WITH (rowGroupSize = " +
        s"'${math.ceil(bytes / (1 << 20)).toLong}m') makes one row group a file, and each page a box."
  }

  private def rowsPerFile: Double = input.rows(files).toDouble / outputs.count

  /**
   * The result row with what is going to be read and written. Rows and files count when the rows are in their
   * final files, not where they are only gathered by region.
   */
  def planned: RunReport =
    forecast.shownIn(report.copy(metrics = report.metrics.copy(
      filesSkipped = report.metrics.filesConsidered - files.files.length,
      rows = if (gathers) 0 else input.rows(files),
      inputBytes = files.files.map(_.length).sum,
      targetFiles = if (gathers) 0 else outputs.count.toLong)))

  private[rewrite] def gathers: Boolean = outputs.each.exists(_.level == OutputPlan.InRegion)
}

private[clustering] object RewritePlan {

  /** Bytes of a row group that no run proposes: every task that writes holds one. */
  private val LargeRowGroup = (1L << 30).toDouble
}

/** Carries a plan out: rewrite, verify, measure, commit. A failure before the commit leaves no trace. */
final private[clustering] class Rewriter(context: RunContext) extends Logging {
  import context.{options, progress, request, table}
  private val session = context.pinned

  /** @return the report that the run's record has, but with the place where the rows are after the commit */
  def apply(plan: RewritePlan): RunReport = {
    val write = begin(plan)
    try {
      val written =
        progress.stepOfRows("rewrite", plan.input.rows(plan.files))(rewrite(plan, write)) { f =>
          s"${HumanReadable.files(f.map(_.file))} written"
        }
      commit(plan, readBack(plan, written), write, Rebase.Attempts)
    } catch {
      case e: Throwable =>
        try Cancellation.deferred(e) {
            progress.cancelJobs()
            write.discard()
          }
        catch { case NonFatal(again) => e.addSuppressed(again) }
        throw e
    }
  }

  /**
   * Verifies, measures and commits the files written, after a conflict without the rows that others removed.
   *
   * @param found
   *   read within the step `verify`, whose time it counts for
   */
  @tailrec
  private def commit(
      plan: RewritePlan,
      found: => Seq[ReadBack],
      write: TableWrite,
      attempts: Int): RunReport = {
    val verified = progress.step("verify") {
      val read = found
      verify(plan, read, write)
      read
    } { all =>
      s"${HumanReadable.count(all.map(_.rows).sum, "row")}, every column's type and NULLs as before"
    }
    val (footers, pages) = (verified.map(_.footer), verified.map(_.pages))
    val written = verified.map(_.written)
    val files = written.map(_.file)
    val measured = progress.step("measure") {
      val tracked = plan.forecast.tracked
      val levels = tracked.levels(footers, tracked.statColumns, SomePages(pages, tracked.statColumns))
      plan.forecast.measuredOn(Levels.concat(plan.kept.toSeq :+ levels))
    }(_.columns.map(r => s"${r.name} ${r.files.measured.fold("?")(HumanReadable.share)}").mkString(
      "files read by ",
      ", ",
      ""))
    val planned = plan.planned
    val report = measured.shownIn(planned.copy(
      status = RunStatus.Done,
      reason = summary(plan, files),
      rebased = rebased(plan),
      metrics = planned.metrics.copy(
        added = files,
        removed = if (request.into.isDefined) Nil else plan.files.files,
        batches = 1,
        // footers of the input may not tell which of its rows were deleted
        rows = if (plan.gathers) 0 else verified.map(_.rows).sum,
        rowGroups = footers.map(_.rowGroups.length.toLong).sum,
        pages = pages.map(_.columns.headOption.fold(0L)(_.length.toLong)).sum))).timed(progress.stepMs)
    val committed = commitRequest(plan, written, report)
    val refused = progress.step("commit")(conflictOf(write.commit(committed), attempts)) { conflict =>
      if (conflict.isEmpty) "the new files are the table's" else "refused: others have changed files since"
    }
    refused match {
      // a commit may move the table
      case None => report.copy(path = write.root.toString)
      case Some(conflict) =>
        val (now, again) = progress.step("rebase")(rebase(plan, verified, write, conflict)) {
          _._1.rebased.fold("")(_.note.trim)
        }
        commit(now, again, write, attempts - 1)
    }
  }

  private def conflictOf(commit: => Unit, attempts: Int): Option[ZOrderConflictException] =
    try {
      commit
      None
    } catch { case conflict: ZOrderConflictException if attempts > 0 => Some(conflict) }

  /** Ends the run with the conflict if it cannot be put on the table as it is now. */
  private def rebase(
      plan: RewritePlan,
      written: Seq[ReadBack],
      write: TableWrite,
      conflict: ZOrderConflictException): (RewritePlan, Seq[ReadBack]) = {
    val based =
      try new Rebase(context, write, writeRows(_, write, _, _), readBack(plan, _))(plan, written)
      catch {
        case crash: CrashPoint.Crash => throw crash
        case NonFatal(e) if !Cancellation.ofJob(e) =>
          logWarning("A run could not be put on what others have written since", e)
          conflict.addSuppressed(e)
          None
      }
    based.getOrElse(throw conflict)
  }

  /** Files go into the table itself, or with `INTO` into a copy beside it, which is plain Parquet. */
  private def begin(plan: RewritePlan): TableWrite = request.into match {
    case None => table.begin(progress.runId, plan.files.files)
    case Some(path) =>
      IntoTarget.begin(session, IntoTarget.open(session, path, table), table, progress.runId)
  }

  private def summary(plan: RewritePlan, files: Seq[DataFile]): String =
    s"${HumanReadable.files(plan.files.files)} became ${HumanReadable.files(files)}." +
      rebased(plan) + entriesNotKept(plan) +
      (if (request.into.isDefined) "" else table.afterword.fold("")(" " + _))

  private def rebased(plan: RewritePlan): String = plan.rebased.fold("")(_.note)

  /** Spark's writer cannot keep the footer entries of other writers, so the result lists them. */
  private def entriesNotKept(plan: RewritePlan): String = {
    val keys = plan.input.inputProperties.keyValues.keys.toSeq.sorted
    if (keys.isEmpty) "" else s" Footer entries that are not kept: ${keys.mkString(", ")}."
  }

  private def rewrite(plan: RewritePlan, target: TableWrite): Seq[WrittenFile] = {
    val source = plan.source()
    val output = if (request.into.isDefined) source.copied else source.output
    val rows = RowsToWrite(source.plan, output, plan.columns.map(_.expression), source.route)
    val apart = plan.outputs.spread && output.exists(a => !Rebase.isComparable(a.dataType)) &&
      !target.mayRebase && plan.layouts.refs.exists(_.spreadsHeavy)
    val placed = if (apart) RewriteQuery.placed(session, source) else None
    val spread = placed.fold(rows) { case (all, place) => rows.copy(plan = all, place = Some(place)) }
    writeRows(plan, target, spread, plan.outputs)
  }

  private def writeRows(
      plan: RewritePlan,
      target: TableWrite,
      rows: RowsToWrite,
      outputs: OutputPlan): Seq[WrittenFile] = {
    val partitionNames = table.partitionSchema.fieldNames.toSeq
    val partitionColumns = partitionNames.map(n => rows.output.find(_.name == n).get)
    val route = if (plan.files.partitions.length == 1) None else Some(rows.route)
    val pages = plan.pages
    val rowGroup = plan.input.rowGroupBytes
    val query = RewriteQuery.plan(
      rows.plan,
      rows.output,
      partitionColumns,
      rows.columns,
      route,
      plan.layouts,
      outputs,
      if (plan.cutsPages) Some(pages) else None,
      rows.together,
      rows.place)
    val writeOptions = Map(
      "parquet.block.size" -> (if (pages.counted) (PageCut.ByteSlack * rowGroup).toLong
                               else rowGroup).toString,
      "parquet.page.row.count.limit" -> pages.pageRows.toInt.toString,
      // as many bytes of a page and of long values as the forecast assumes, whatever the session sets
      "parquet.page.size" -> PlannedPages.PageBytes.toString,
      "parquet.columnindex.truncate.length" -> TruncatedBounds.PageBytes.toString,
      "parquet.statistics.truncate.length" -> Int.MaxValue.toString) ++
      (if (pages.counted) Map(RowGroupLimit.Key -> pages.rowGroupRows.toInt.toString) else Nil) ++
      plan.input.codec.map("compression" -> _) ++ bloom(plan)
    ActiveSession.during(session)(
      target.write(session, query, partitionNames, writeOptions, outputs.each(_).directory))
  }

  /** No row group has more values than the largest file has rows, of the partition with the largest files. */
  private def bloom(plan: RewritePlan): Map[String, String] =
    if (plan.input.blooms.isEmpty) Map.empty
    else {
      val files = (0 until plan.outputs.count).groupBy(plan.outputs.each(_).directory)
      val rows = plan.files.partitions.map(_.partition)
        .map(p =>
          WrittenBloomFilters.mostRows(plan.input.rows(p), files.get(p.directory).fold(1)(_.length)))
      WrittenBloomFilters.writeOptions(plan.input.blooms, rows.foldLeft(1L)(math.max))
    }

  private def readBack(plan: RewritePlan, written: Seq[WrittenFile]): Seq[ReadBack] = {
    val read = Footers.readWithPages(session, written.map(_.file), plan.forecast.tracked.statColumns)
    written.zip(read).map { case (w, (footer, pages)) => ReadBack(w, footer, pages) }
  }

  private def verify(plan: RewritePlan, found: Seq[ReadBack], target: TableWrite): Unit = {
    val (written, footers) = (found.map(_.written), found.map(_.footer))
    val stored = table.managed.map(_.stored).getOrElse((leaf: LeafColumn) =>
      Some(if (table.caseSensitive) leaf.column else leaf.column.map(_.toLowerCase(Locale.ROOT))))
    verifyCount(plan, footers.map(_.rows).sum)
    verifyPartitions(plan, written)
    Verification.compare(plan.input.footersOf(plan.files), footers, plan.input.mayBecome, stored).headOption
      .foreach(problem =>
        refuse("ZORDER_VERIFICATION_FAILED.FOOTERS", "problem" -> problem, "run" -> progress.runId))
    if (options.verify == "checksum") {
      val source = plan.source()
      val before = Checksum.of(Shims.ofRows(session, Project(source.copied, source.plan)))
      // not every format can read no files
      val after =
        if (written.isEmpty) Checksum(0L, BigInt(0), before.skipped)
        else Checksum.of(target.rows(session, plan.input.dataSchema, written))
      if (before != after)
        refuse(
          "ZORDER_VERIFICATION_FAILED.CHECKSUM",
          "written" -> after,
          "read" -> before,
          "run" -> progress.runId)
    }
  }

  /**
   * If the footers do not show how many input rows are deleted, one job counts those that are left; but after
   * a conflict the rows that others removed were counted.
   */
  private def verifyCount(plan: RewritePlan, written: Long): Unit =
    if (plan.rebased.isEmpty && !plan.files.files.forall(_.deleted.isDefined)) {
      val left = Shims.ofRows(session, plan.source().plan).count()
      if (left != written)
        refuse(
          "ZORDER_VERIFICATION_FAILED.ROWS",
          "read" -> left,
          "written" -> written,
          "run" -> progress.runId)
    }

  /**
   * Partition values are not in the files of most formats, and a value that is written and read in other ways
   * moves rows to another partition. A copy of a format that computes its partitions has none.
   */
  private def verifyPartitions(plan: RewritePlan, written: Seq[WrittenFile]): Unit = {
    val schema = table.partitionSchema
    val zone = session.sessionState.conf.sessionLocalTimeZone
    def differ(read: String, wrote: String): Boolean =
      if (schema.isEmpty) request.into.isEmpty && read != wrote
      else if (request.into.isDefined)
        PartitionValues.asWritten(read, schema, zone) != PartitionValues.of(wrote, schema, zone)
      else PartitionValues.of(read, schema, zone) != PartitionValues.of(wrote, schema, zone)
    written.map(w => (w, plan.outputs.each(w.number).directory))
      .foreach { case (w, read) =>
        if (differ(read, w.file.partition))
          refuse(
            "ZORDER_VERIFICATION_FAILED.PARTITION",
            "partition" -> read,
            "written" -> w.file.partition,
            "file" -> w.path,
            "run" -> progress.runId)
      }
  }

  private def commitRequest(
      plan: RewritePlan,
      written: Seq[WrittenFile],
      report: RunReport): CommitRequest = {
    val layouts = plan.recorded.getOrElse(plan.layouts.refs)
    val record = RunRecord(
      number = 0,
      runId = progress.runId,
      startedMs = context.startedMs,
      finishedMs = report.metrics.endTimeMs,
      operation = Operation.Optimize,
      statement = request.statement,
      columns = plan.columns.map(_.sql),
      curve = context.curve,
      layoutIds = plan.files.partitions.map(_.partition.directory).zip(layouts.map(_.id)).toMap,
      files = written.map { w =>
        val output = plan.outputs.each(w.number)
        RecordedFile(w.path, w.file.length, output.level, output.fileNumber, output.until)
      },
      rewritten = plan.files.files,
      report = report.json,
      // a copy is plain Parquet, which has neither
      columnIds = if (request.into.isDefined) Nil else ClusterColumn.ids(table, plan.columns),
      branch = table.state.branch.filter(_ => request.into.isEmpty),
      // a stored layout was fitted for the number that its own records have
      fileCount = context.options.fileCount.filter(_ => plan.recorded.isEmpty))
    CommitRequest(record, layouts.map(ref => ref.id -> LayoutJson.write(ref.layout)).toMap)
  }
}

/** The one full scan: every row goes straight to the task that writes its file, and is sorted there. */
object RewriteQuery {

  /**
   * Rows in layout order: shuffle partition p holds exactly the rows of file p.
   *
   * @param output
   *   columns to keep
   * @param outputs
   *   which file numbers are written, and by which shuffle partition
   * @param partitionColumns
   *   those of `output` that become directories; the write would sort by them, so the order starts with them
   * @param pages
   *   where the writer will end pages, for the rows of a file to be cut there too
   * @param together
   *   what is done where all rows of a file are together, before they are ordered
   * @param place
   *   what heavy values are spread by besides the columns
   */
  def plan(
      child: LogicalPlan,
      output: Seq[Attribute],
      partitionColumns: Seq[Attribute],
      columns: Seq[Expression],
      route: Option[Expression],
      layouts: PartitionLayouts,
      outputs: OutputPlan,
      pages: Option[PageCut] = None,
      together: LogicalPlan => LogicalPlan = identity,
      place: Option[Expression] = None): LogicalPlan = {
    val to = toPartition(output, columns, route, layouts, outputs, place)
    val shuffled = RepartitionByExpression(Seq(to), child, outputs.count)
    val key = ZOrderKey(layouts, route, columns)
    val all = layouts.refs.map(_.layout)
    val inFile =
      // the first column as a curve of its own: it is sorted by bits that vary, and its ties by the columns
      if (all.forall(_.sorts) && all.exists(_.sortsByValues)) ZOrder(columns.take(1)) +: columns
      else Seq(pages.fold[Expression](key)(ZOrderPages(key, _)))
    val order = partitionColumns ++ inFile
    Project(output, Sort(order.map(SortOrder(_, Ascending)), global = false, together(shuffled)))
  }

  /**
   * What a row is shuffled by: equal rows go to one shuffle partition, and into one file, unless their places
   * are looked at.
   */
  def toPartition(
      output: Seq[Attribute],
      columns: Seq[Expression],
      route: Option[Expression],
      layouts: PartitionLayouts,
      outputs: OutputPlan,
      place: Option[Expression] = None): ToPartition = {
    def apart = output.filter(a => Rebase.isComparable(a.dataType)) ++ place
    val spread = if (outputs.spread) ZOrderFile.spreadBy(apart) else None
    ToPartition(ZOrderFile(layouts, route, columns, spread), outputs.preImages)
  }

  /**
   * The rows with a hash of their places: a map or a variant may be all that tells the rows of a heavy value
   * apart, and has no hash. None if the format does not show places.
   */
  private[rewrite] def placed(
      session: ClassicSession,
      source: InputRelation): Option[(LogicalPlan, Attribute)] =
    if (source.place.isEmpty) None
    else {
      val hash = s"xxhash64(${source.place.mkString(", ")}) AS ${InputRelation.PlaceColumn}"
      val plan = Shims.ofRows(session, source.plan).selectExpr("*", hash).queryExecution.analyzed
      Some((plan, plan.output.last))
    }
}

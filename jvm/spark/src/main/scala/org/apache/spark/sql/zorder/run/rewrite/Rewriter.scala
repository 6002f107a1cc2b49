package org.apache.spark.sql.zorder.run.rewrite

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.fit.{TruncatedBounds, LayoutJson}
import org.apache.spark.sql.zorder.run.inspect.BloomFilters
import org.apache.spark.sql.zorder.run.report.{HumanReadable, RunReport, RunStatus}
import org.apache.spark.sql.zorder.run.request.{ColumnIds, RunContext}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.stats.{Checksum, FileFooter, FilePages, Footers, LeafColumn, Verification}
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
import sparkzorder.curve.page.PageCut

/** Carries a plan out: rewrite, verify, measure, commit. After a failure before the commit nothing is left behind. */
final private[run] class Rewriter(context: RunContext) {
  import context.{options, progress, request, table}
  private val session = context.pinned

  /**
   * @param considered
   *   all files that the statement looked at
   * @return
   *   the report that the run's record has, but with the place where the rows are after the commit
   */
  def apply(plan: RewritePlan, considered: Int): RunReport = {
    val write = begin()
    try {
      val written =
        progress.step("rewrite")(rewrite(plan, write))(f => s"${HumanReadable.files(f.map(_.file))} written")
      val files = written.map(_.file)
      val (footers, pages) = progress.step("verify")(verify(plan, written, write)) { case (f, _) =>
        s"${HumanReadable.count(f.map(_.rows).sum, "row")}, every column's type and NULLs as before"
      }
      val measured = progress.step("measure") {
        val tracked = plan.forecast.tracked
        val levels = tracked.levels(footers, tracked.statColumns, pages)
        plan.forecast.measuredOn(plan.kept.fold(levels)(_ ++ levels))
      }(_.columns.map(r => s"${r.name} ${r.files.measured.fold("?")(HumanReadable.share)}").mkString(
        "files read by ",
        ", ",
        ""))
      val metrics = BatchMetrics.written(context, considered, plan, files, footers, pages)
      val report = RunReport(
        table.root.toString,
        RunStatus.Done,
        summary(plan, files),
        progress.runId,
        plan.layout,
        BatchMetrics.ended(metrics, progress),
        Some(measured.report))
      progress.step("commit")(write.commit(commitRequest(plan, written, report))) { _ =>
        "the new files are the table's"
      }
      // a commit may move the table
      report.copy(path = write.root.toString)
    } catch {
      case e: Throwable =>
        try write.discard()
        catch { case NonFatal(again) => e.addSuppressed(again) }
        throw e
    }
  }

  /** Files go into the table itself, or with `INTO` into a copy beside it, which is plain Parquet. */
  private def begin(): TableWrite = request.into match {
    case None => table.begin(progress.runId)
    case Some(path) =>
      IntoTarget.begin(session, IntoTarget.open(session, path, table), table, progress.runId)
  }

  private def summary(plan: RewritePlan, files: Seq[DataFile]): String =
    s"${HumanReadable.files(plan.files.files)} became ${HumanReadable.files(files)}." + entriesNotKept(plan) +
      (if (request.into.isDefined) "" else table.afterword.fold("")(" " + _))

  /** Spark's writer cannot keep the footer entries of other writers, so the result lists them. */
  private def entriesNotKept(plan: RewritePlan): String = {
    val keys = plan.input.traits.keyValues.keys.toSeq.sorted
    if (keys.isEmpty) "" else s" Footer entries that are not kept: ${keys.mkString(", ")}."
  }

  private def rewrite(plan: RewritePlan, target: TableWrite): Seq[WrittenFile] = {
    val partitionNames = table.partitionSchema.fieldNames.toSeq
    val output = outputOf(plan.source)
    val partitionColumns = partitionNames.map(n => output.find(_.name == n).get)
    val route = if (plan.files.partitions.length == 1) None else Some(plan.source.route)
    val pages = plan.pages
    val rowGroup = options.rowGroupSize.getOrElse(plan.input.rowGroupBytes)
    val query = RewriteQuery.plan(
      plan.source.plan,
      output,
      partitionColumns,
      plan.columns.map(_.expression),
      route,
      plan.routes,
      plan.outputs,
      if (plan.cutsPages) Some(pages) else None)
    val writeOptions = Map(
      "parquet.block.size" -> (if (pages.counted) (PageCut.ByteSlack * rowGroup).toLong
                               else rowGroup).toString,
      "parquet.page.row.count.limit" -> pages.pageRows.toInt.toString,
      // as many bytes of long values as the forecast assumes, whatever the session sets
      "parquet.columnindex.truncate.length" -> TruncatedBounds.PageBytes.toString,
      "parquet.statistics.truncate.length" -> Int.MaxValue.toString) ++
      (if (pages.counted) Map(RowGroupLimit.Key -> pages.rowGroupRows.toInt.toString) else Nil) ++
      options.codec.orElse(plan.input.codec).map("compression" -> _) ++ bloom(plan)
    ActiveSession.during(session)(
      target.write(session, query, partitionNames, writeOptions, plan.outputs.each(_).directory))
  }

  private def outputOf(source: InputRelation): Seq[Attribute] =
    if (request.into.isDefined) source.copied else source.output

  /** No row group has more values than its file has rows. */
  private def bloom(plan: RewritePlan): Map[String, String] =
    BloomFilters.writeOptions(plan.input.blooms, plan.input.rows(plan.files) / plan.outputs.count)

  private def verify(
      plan: RewritePlan,
      written: Seq[WrittenFile],
      target: TableWrite): (Seq[FileFooter], Seq[FilePages]) = {
    val (footers, pages) =
      Footers.readWithPages(session, written.map(_.file), plan.forecast.tracked.statColumns)
    val stored = table.managed.map(_.stored).getOrElse((leaf: LeafColumn) =>
      Some(if (table.caseSensitive) leaf.column else leaf.column.map(_.toLowerCase(Locale.ROOT))))
    val problems =
      countProblem(plan, footers.map(_.rows).sum) ++ partitionProblem(plan, written) ++
        Verification.compare(plan.input.footersOf(plan.files), footers, plan.input.mayBecome, stored)
    if (problems.nonEmpty)
      throw new ZOrderException(
        s"The rewritten files do not hold what the table holds: ${problems.head} Nothing " +
          "was changed; please report this with the run id " + progress.runId + ".")
    if (options.verify == "checksum") {
      val before = Checksum.of(Shims.ofRows(session, Project(plan.source.copied, plan.source.plan)))
      val after = Checksum.of(target.rows(session, plan.input.dataSchema, written))
      if (before != after)
        throw new ZOrderException(
          s"The checksum of the rewritten rows is $after and that of the table's rows is $before: " +
            s"nothing was changed; please report this with the run id ${progress.runId}.")
    }
    (footers, pages)
  }

  /** If the footers do not show how many input rows are deleted, one job counts those that are left. */
  private def countProblem(plan: RewritePlan, written: Long): Option[String] =
    if (plan.files.files.forall(_.deleted.isDefined)) None
    else Some(Shims.ofRows(session, plan.source.plan).count()).filter(_ != written)
      .map(left => s"The files read hold $left rows that are not deleted and the files written $written.")

  /**
   * Partition values are not in the files of most formats, and a value that is written and read in other ways moves
   * rows to another partition. A copy of a format that computes its partitions has none.
   */
  private def partitionProblem(plan: RewritePlan, written: Seq[WrittenFile]): Option[String] = {
    val schema = table.partitionSchema
    val zone = session.sessionState.conf.sessionLocalTimeZone
    def differ(read: String, wrote: String): Boolean =
      if (schema.isEmpty) request.into.isEmpty && read != wrote
      else PartitionValues.of(read, schema, zone) != PartitionValues.of(wrote, schema, zone)
    written.map(w => (w, plan.outputs.each(w.number).directory))
      .collectFirst {
        case (w, read) if differ(read, w.file.partition) =>
          s"Rows of the partition $read were written into the partition ${w.file.partition} (${w.path})."
      }
  }

  private def commitRequest(
      plan: RewritePlan,
      written: Seq[WrittenFile],
      report: RunReport): CommitRequest = {
    val layouts = plan.files.partitions.map(_.partition.directory).zip(plan.routes.refs)
    val record = RunRecord(
      number = 0,
      runId = progress.runId,
      startedMs = context.startedMs,
      finishedMs = report.metrics.endTimeMs,
      operation = Operation.Optimize,
      statement = request.statement,
      columns = plan.columns.map(_.sql),
      curve = plan.curve,
      layoutIds = layouts.map { case (directory, ref) => directory -> ref.id }.toMap,
      files = written.map { w =>
        val output = plan.outputs.each(w.number)
        RecordedFile(w.path, w.file.length, output.level, output.fileNumber, output.until)
      },
      rewritten = plan.files.files,
      report = report.json,
      columnIds = ColumnIds.of(table, plan.columns),
      branch = table.state.branch)
    CommitRequest(
      plan.files.files,
      record,
      plan.routes.refs.map(ref => ref.id -> LayoutJson.write(ref.layout)).toMap)
  }
}

package org.apache.spark.sql.zorder.run.rewrite

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.fit.{LayoutJson, TruncatedBounds}
import org.apache.spark.sql.zorder.run.forecast.Forecast
import org.apache.spark.sql.zorder.run.inspect.BloomFilters
import org.apache.spark.sql.zorder.run.report.{HumanReadable, RunMetrics, RunReport, RunStatus}
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
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation}

/** What came of the rewrite. */
final private[run] case class RewriteResult(
    root: Path,
    said: String,
    metrics: RunMetrics,
    outlook: Forecast)

/** The second half of a run: rewrite, verify, commit. A failure before the commit takes the staging away. */
final private[run] class Rewriter(context: RunContext) {
  import context.{options, progress, request, table}
  private val session = context.pinned

  def apply(work: RewritePlan, metrics: RunMetrics): RewriteResult = {
    val write = Destination.begin(session, table, request.into, progress.runId)
    try {
      val written =
        progress.step("rewrite")(rewrite(work, write))(f => s"${HumanReadable.files(f.map(_.file))} written")
      val files = written.map(_.file)
      val (footers, pageIndexes) = progress.step("verify")(verify(work, written, write)) { case (f, _) =>
        s"${HumanReadable.count(f.map(_.rows).sum, "row")}, every column's type and NULLs as before"
      }
      val outlook = progress.step("measure") {
        val columns = work.outlook.tracked
        val written = columns.levels(footers, columns.statColumns, pageIndexes)
        work.outlook.after(work.kept.fold(written)(_ ++ written))
      }(_.columns.map(r => s"${r.name} ${r.files.measured.fold("?")(HumanReadable.share)}").mkString(
        "files read by ",
        ", ",
        ""))
      val done = metrics.copy(
        added = files,
        removed = if (request.into.isDefined) Nil else work.plan.files,
        batches = 1,
        rowGroups = footers.map(_.rowGroups.length.toLong).sum,
        pages = pageIndexes.map(_.columns.headOption.fold(0L)(_.length.toLong)).sum)
      progress.step("commit")(write.commit(finished(work, written, done, outlook))) { _ =>
        "the new files are the table's"
      }
      RewriteResult(write.root, became(work, files), done, outlook)
    } catch {
      case e: Throwable =>
        try write.discard()
        catch { case NonFatal(again) => e.addSuppressed(again) }
        throw e
    }
  }

  private def became(work: RewritePlan, files: Seq[DataFile]): String =
    s"${HumanReadable.files(work.plan.files)} became ${HumanReadable.files(files)}." + notKept(work) +
      (if (request.into.isDefined) "" else table.afterword.fold("")(" " + _))

  /** Spark's writer has no place for footer entries of other writers: at least it is said. */
  private def notKept(work: RewritePlan): String = {
    val keys = work.input.traits.keyValues.keys.toSeq.sorted
    if (keys.isEmpty) "" else s" Footer entries that are not kept: ${keys.mkString(", ")}."
  }

  private def rewrite(work: RewritePlan, target: TableWrite): Seq[WrittenFile] = {
    val partitionNames = table.partitionSchema.fieldNames.toSeq
    val output = kept(work.source)
    val partitionColumns = partitionNames.map(n => output.find(_.name == n).get)
    val route = if (work.plan.partitions.length == 1) None else Some(work.source.route)
    val plan = RewriteQuery.plan(
      work.source.plan,
      output,
      partitionColumns,
      work.columns.map(_.expression),
      route,
      work.routes,
      work.tasks)
    val write = Map(
      "parquet.block.size" -> options.rowGroupSize.getOrElse(work.input.rowGroupBytes).toString,
      "parquet.page.row.count.limit" -> options.pageRowLimit.toString,
      // what the forecast takes to be kept of long values, whatever the session says
      "parquet.columnindex.truncate.length" -> TruncatedBounds.PageBytes.toString,
      "parquet.statistics.truncate.length" -> Int.MaxValue.toString) ++
      options.codec.orElse(work.input.codec).map("compression" -> _) ++ bloom(work)
    ActiveSession.during(session)(target.write(session, plan, partitionNames, write))
  }

  private def kept(source: InputRelation): Seq[Attribute] =
    if (request.into.isDefined) source.copied else source.output

  /** No row group has more values than its file has rows. */
  private def bloom(work: RewritePlan): Map[String, String] = {
    val paths = BloomFilters.paths(session, table.name, work.input.dataSchema, options.bloom)
    BloomFilters.writeOptions(paths, work.input.rows(work.plan) / work.tasks.count)
  }

  private def verify(
      work: RewritePlan,
      written: Seq[WrittenFile],
      target: TableWrite): (Seq[FileFooter], Seq[FilePages]) = {
    val (footers, pages) =
      Footers.readWithPages(session, written.map(_.file), work.outlook.tracked.statColumns)
    val stored = table.managed.map(_.stored).getOrElse((leaf: LeafColumn) => Some(leaf.column))
    val problems =
      counted(work, footers.map(_.rows).sum) ++
        Verification.compare(work.input.footersOf(work.plan), footers, work.input.mayBecome, stored)
    if (problems.nonEmpty)
      throw new ZOrderException(
        s"The rewritten files do not hold what the table holds: ${problems.head} Nothing " +
          "was changed; please report this with the run id " + progress.runId + ".")
    if (options.verify == "checksum") {
      val before = Checksum.of(Shims.ofRows(session, Project(work.source.copied, work.source.plan)))
      val after = Checksum.of(target.rows(session, work.input.dataSchema, written))
      if (before != after)
        throw new ZOrderException(
          s"The checksum of the rewritten rows is $after and that of the table's is $before: " +
            s"nothing was changed; please report this with the run id ${progress.runId}.")
    }
    (footers, pages)
  }

  /** Where footers cannot tell how many rows of the inputs are deleted, one job counts those that are left. */
  private def counted(work: RewritePlan, written: Long): Option[String] =
    if (work.plan.files.forall(_.deleted.isDefined)) None
    else Some(Shims.ofRows(session, work.source.plan).count()).filter(_ != written)
      .map(left => s"The files read hold $left rows that are not deleted and the files written $written.")

  private def finished(
      work: RewritePlan,
      written: Seq[WrittenFile],
      metrics: RunMetrics,
      outlook: Forecast): CommitRequest = {
    val layouts = work.plan.partitions.map(_.partition.directory).zip(work.routes.refs)
    val finished = System.currentTimeMillis()
    val report = RunReport(
      table.root.toString,
      RunStatus.Done,
      became(work, written.map(_.file)),
      progress.runId,
      work.layout,
      metrics.copy(endTimeMs = finished, stepMs = progress.stepMs),
      Some(outlook.report))
    val record = RunRecord(
      number = 0,
      runId = progress.runId,
      startedMs = context.startedMs,
      finishedMs = finished,
      operation = Operation.Optimize,
      statement = request.statement,
      columns = work.columns.map(_.sql),
      curve = work.curve,
      layoutIds = layouts.map { case (directory, ref) => directory -> ref.id }.toMap,
      files = written.map { w =>
        val task = work.tasks.each(w.number)
        RecordedFile(w.path, w.file.length, task.level, task.fileNumber, task.until)
      },
      rewritten = work.plan.files,
      report = report.json,
      columnIds = ColumnIds.of(table, work.columns),
      branch = table.state.branch)
    CommitRequest(
      work.plan.files,
      record,
      work.routes.refs.map(ref => ref.id -> LayoutJson.write(ref.layout)).toMap)
  }
}

package org.apache.spark.sql.zorder.run

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.ZOrderException
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.fit.LayoutJson
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{Checksum, FileFooter, FilePages, Footers, Verification}
import org.apache.spark.sql.zorder.table._

/** Everything that the steps before the rewrite found out. */
final private[run] case class Work(
    input: Inspection,
    plan: FilePlan,
    source: InputRelation,
    columns: Seq[ClusterColumn],
    fitted: Fitted,
    outlook: Outlook,
    curve: String)

/** What came of the rewrite. */
final private[run] case class Written(
    root: Path,
    said: String,
    metrics: RunMetrics,
    outlook: Outlook)

/** The second half of a run: rewrite, verify, commit. A failure before the commit takes the staging away. */
final private[run] class WriteOut(
    session: ClassicSession,
    table: ClusterTable,
    request: ClusterRequest,
    options: RunOptions,
    progress: Progress,
    started: Long) {

  def apply(work: Work, metrics: RunMetrics): Written = {
    val target = Destination(session, table, request.into)
    val staging = target.newStaging(progress.runId)
    try {
      // a staging directory may hold late files already, which are no work of ours
      val before = StagedFiles.list(session, staging).map(_.path).toSet
      progress.step("rewrite")(rewrite(work, staging))(_ =>
        s"${Said.count(work.fitted.routes.files.toLong, "file")} written")
      val files = StagedFiles.list(session, staging).filterNot(f => before(f.path))
      val (footers, pageIndexes) = progress.step("verify")(verify(work, files, staging)) { case (f, _) =>
        s"${Said.count(f.map(_.rows).sum, "row")}, every column's type and NULLs as before"
      }
      val outlook = progress.step("measure") {
        val columns = work.outlook.tracked
        work.outlook.after(columns.levels(footers, columns.statColumns, pageIndexes))
      }(_.columns.map(r => s"${r.name} ${r.files.measured.fold("?")(Said.share)}").mkString(
        "files read by ",
        ", ",
        ""))
      val done = metrics.copy(
        added = files,
        removed = if (request.into.isDefined) Nil else work.plan.files,
        batches = 1,
        rowGroups = footers.map(_.rowGroups.length.toLong).sum,
        pages = pageIndexes.map(_.columns.headOption.fold(0L)(_.length.toLong)).sum)
      progress.step("commit")(target.commit(replacement(work, files, staging, done, outlook))) { _ =>
        "the new files are the table's"
      }
      Written(target.root, became(work, files), done, outlook)
    } catch {
      case e: Throwable =>
        target.discard(staging)
        throw e
    }
  }

  private def became(work: Work, files: Seq[DataFile]): String =
    s"${Said.files(work.plan.files)} became ${Said.files(files)}." + notKept(work)

  /** Spark's writer has no place for footer entries of other writers: at least it is said. */
  private def notKept(work: Work): String = {
    val keys = work.input.traits.keyValues.keys.toSeq.sorted
    if (keys.isEmpty) "" else s" Footer entries that are not kept: ${keys.mkString(", ")}."
  }

  private def rewrite(work: Work, staging: Path): Unit = {
    val partitionNames = table.partitionSchema.fieldNames.toSeq
    val output = work.source.output
    val partitionColumns = partitionNames.map(n => output.find(_.name == n).get)
    val route = if (work.plan.partitions.length == 1) None else Some(work.source.route)
    val plan = Rewrite.plan(
      work.source.plan,
      output,
      partitionColumns,
      work.columns.map(_.expression),
      route,
      work.fitted.routes)
    val write = Map(
      "parquet.block.size" -> options.rowGroupSize.getOrElse(work.input.rowGroupBytes).toString,
      "parquet.page.row.count.limit" -> options.pageRowLimit.toString) ++
      options.codec.orElse(work.input.codec).map("compression" -> _) ++ bloom(work)
    PinnedSession.active(session)(Rewrite.write(session, plan, partitionNames, write, staging))
  }

  /** No row group has more values than its file has rows. */
  private def bloom(work: Work): Map[String, String] = {
    val paths = BloomFilters.paths(session, table.name, work.input.dataSchema, options.bloom)
    BloomFilters.writeOptions(paths, work.input.rows(work.plan) / work.fitted.routes.files)
  }

  private def verify(work: Work, files: Seq[DataFile], staging: Path): (Seq[FileFooter], Seq[FilePages]) = {
    val (footers, pages) = Footers.readWithPages(session, files, work.outlook.tracked.statColumns)
    val problems = Verification.compare(work.input.footersOf(work.plan), footers, work.input.mayChange)
    if (problems.nonEmpty)
      throw new ZOrderException(
        s"The rewritten files do not hold what the table holds: ${problems.head} Nothing " +
          "was changed; please report this with the run id " + progress.runId + ".")
    if (options.verify == "checksum") {
      val before = Checksum.of(Shims.ofRows(session, work.source.plan).drop(PinnedFiles.ownColumns: _*))
      val after = Checksum.of(StagedFiles.read(session, table, work.input.dataSchema, files, staging))
      if (before != after)
        throw new ZOrderException(
          s"The checksum of the rewritten rows is $after and that of the table's is $before: " +
            s"nothing was changed; please report this with the run id ${progress.runId}.")
    }
    (footers, pages)
  }

  private def replacement(
      work: Work,
      files: Seq[DataFile],
      staging: Path,
      metrics: RunMetrics,
      outlook: Outlook): Replacement = {
    val routes = work.fitted.routes
    val firstFile = work.plan.partitions.map(_.partition.directory).zip(routes.firstFile).toMap
    val layouts = work.plan.partitions.map(_.partition.directory).zip(routes.refs)
    val finished = System.currentTimeMillis()
    val report = RunReport(
      table.root.toString,
      RunStatus.Done,
      became(work, files),
      progress.runId,
      work.fitted.said,
      metrics.copy(endTimeMs = finished, stepMs = progress.stepMs),
      Some(outlook))
    val record = RunRecord(
      number = 0,
      runId = progress.runId,
      startedMs = started,
      finishedMs = finished,
      operation = "OPTIMIZE",
      statement = request.statement,
      columns = work.columns.map(_.sql),
      curve = work.curve,
      layoutIds = layouts.map { case (directory, ref) => directory -> ref.id }.toMap,
      files = files.map { f =>
        RecordedFile(
          InPlace.relative(staging, f),
          f.length,
          0,
          StagedFiles.number(f) - firstFile.getOrElse(f.partition, 0))
      },
      rewritten = work.plan.files,
      report = report.json)
    Replacement(
      progress.runId,
      work.plan.files,
      staging,
      record,
      routes.refs.map(ref => ref.id -> LayoutJson.write(ref.layout)).toMap)
  }
}

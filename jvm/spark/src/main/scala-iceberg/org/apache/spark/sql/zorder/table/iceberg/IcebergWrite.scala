package org.apache.spark.sql.zorder.table.iceberg

import java.util.{HashMap => JHashMap, Map => JMap, UUID}

import scala.annotation.tailrec
import scala.collection.JavaConverters._
import scala.collection.mutable
import scala.util.{Failure, Success, Try}
import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.fs.Path
import org.apache.hadoop.io.IOUtils
import org.apache.iceberg.{
  BaseTable,
  DataFile => IcebergFile,
  DeleteFile,
  FileMetadata,
  FileScanTask,
  Snapshot,
  Table
}
import org.apache.iceberg.exceptions._
import org.apache.iceberg.spark.FileRewriteCoordinator
import org.apache.iceberg.TableProperties._
import org.apache.iceberg.util.{ContentFileUtil, SnapshotUtil}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ChangedInputs, CommitRequest, RunRecord, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{
  DataFile,
  InputRelation,
  PartNumber,
  PinnedPartition,
  RowGroupLimit
}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint, DriverReads}

/**
 * A rewrite that ends in a `replace` commit. Rows that others append meanwhile stay, and so do their equality deletes.
 * If somebody otherwise deleted rows of the rewritten files or replaced these files, Iceberg refuses the commit, and
 * the next one is validated from the snapshot that had these changes.
 */
final private[iceberg] class IcebergWrite(
    opened: IcebergClusterTable,
    start: Snapshot,
    startTasks: Map[String, FileScanTask],
    staged: StagedTasks,
    runId: String)
    extends TableWrite
    with Logging {

  private val table: Table = opened.table
  private val changes = opened.changes
  private val beganMs = System.currentTimeMillis

  // what the next commit is made against: the snapshot that was read, until somebody changes a file of it
  private var base: Snapshot = start
  private var tasks: Map[String, FileScanTask] = startTasks
  private var written: Map[String, IcebergFile] = Map.empty
  private val marked = new MarkedRows(table, staged, startTasks, delete)
  // later deletes of others, and what they are under paths of our own
  private var copies: Seq[(DeleteFile, DeleteFile)] = Nil
  private var submitted = false
  private var newFilesGone = false
  private val seen = mutable.HashSet.empty[Long]

  override def root: Path = opened.root

  override def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile] = ActiveSession.during(session) {
    // Iceberg writes by the schema and the partitioning of now, and the rows were read by those of before
    if (!changes.isOfBefore)
      throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_COMMIT", "table" -> opened.name)
    val target = IcebergWriteProperties.on(table, options)
    val name = staged.forWrite(target)
    session.conf.set("spark.sql.storeAssignmentPolicy", "ANSI")
    Shims.ofRows(session, plan).write.format("iceberg").mode("append")
      .options(IcebergWrite.options(name, options)).save(name)
    val made = FileRewriteCoordinator.get.fetchNewFiles(target, name).asScala.toSeq
      .map { case file: IcebergFile => file.location -> file }.toMap
    written ++= made
    CrashPoint.hit("iceberg-written")
    val now = System.currentTimeMillis
    made.toSeq.sortBy(_._1).map { case (path, file) =>
      val found = DataFile(
        path,
        file.fileSizeInBytes,
        now,
        IcebergPartitions.text(table, file),
        own = opened.ownFiles)
      WrittenFile(found, DataFile.below(root, found), IcebergWrite.number(path))
    }
  }

  override def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    IcebergRows(session, table, staged, partitions, unseen)

  private def unseen: Map[String, FileScanTask] = written.map { case (path, file) =>
    val shown = if (changes.hasRowIds) UncommittedFile.asCommitted(file) else file
    path -> UncommittedFile.task(table, shown, marked.of(path))
  }

  override def commit(request: CommitRequest): Unit = {
    val named = opened.state.begin(request)
    submitted = true
    try {
      CrashPoint.hit("iceberg-commit")
      checkWritten()
      replace(request, named)
    } catch {
      case crash: CrashPoint.Crash => throw crash
      case Cancellation.OrNonFatal(e) if !submitted => throw e
      case Cancellation.OrNonFatal(e) => Cancellation.deferred(e)(afterAll(e))
    }
    CrashPoint.hit("iceberg-committed")
    opened.state.committed(request, committed())
  }

  /** The snapshot was certainly not made, so that what was written is nobody's. */
  private def notCommitted(): Unit = {
    submitted = false
    opened.state.abandon(runId)
  }

  private def refused(e: Throwable): Nothing = throw new ZOrderConflictException(
    "ZORDER_CONFLICT.COMMIT_REFUSED",
    "table" -> opened.name,
    "cause" -> ZOrderException.firstLine(e))

  /**
   * Iceberg does not look whether new files are there, which somebody's `remove_orphan_files` may have deleted. It is
   * asked for those of long runs alone.
   */
  private def checkWritten(): Unit =
    if (System.currentTimeMillis - beganMs >= IcebergWrite.sparedMs) {
      val files = allWritten.toSeq
      val there =
        try DriverReads.each(files, DriverReads.MostRequests)(table.io.newInputFile(_).exists)
        catch { case e: Throwable => notCommitted(); throw e }
      files.zip(there).collectFirst { case (file, false) => file }.foreach { gone =>
        notCommitted()
        newFilesGone = true
        throw new ZOrderConflictException(
          "ZORDER_CONFLICT.NEW_FILES_DELETED",
          "dir" -> new Path(gone).getParent)
      }
    }

  /**
   * Deletes that Iceberg would drop, though they apply to the rewritten rows, are written to the table once more.
   *
   * @param named
   *   what the summary of the snapshot says besides
   */
  @tailrec
  private def replace(request: CommitRequest, named: Map[String, String], left: Int = 10): Unit = {
    val inputs = request.inputs.map(f => tasks(f.path))
    checkRows(inputs)
    val guard = LaterDeletes.Guard(
      start,
      base,
      opened.branch,
      inputs.map(_.file.location).toSet,
      copies.map { case (of, copy) => of.location -> copy.location }.toMap,
      changes.nameMapping,
      seen)
    val rewrite = guard.of(table).newRewrite()
      .validateFromSnapshot(base.snapshotId)
      // deletes that are committed after the rows were read apply to the rewritten rows too
      .dataSequenceNumber(start.sequenceNumber)
    inputs.foreach(t => rewrite.deleteFile(t.file))
    inputs.flatMap(_.deletes.asScala).filter(ContentFileUtil.isDV).foreach(dv => rewrite.deleteFile(dv))
    copies.foreach { case (of, copy) => rewrite.deleteFile(of).addFile(copy, of.dataSequenceNumber) }
    written.values.foreach(rewrite.addFile(_))
    marked.vectors.foreach(rewrite.addFile(_))
    (IcebergWrite.summary(request.record) ++ named).foreach { case (key, value) => rewrite.set(key, value) }
    opened.branch.foreach(rewrite.toBranch)
    val dropped =
      try {
        rewrite.commit()
        Nil
      } catch { case lost: LaterDeletes.Dropped if left > 0 => lost.files }
    if (dropped.nonEmpty) {
      CrashPoint.hit("iceberg-later-deletes")
      copy(dropped)
      replace(request, named, left - 1)
    }
  }

  /** Iceberg counts rows that are marked, and refuses more than those of the inputs as an error of the program. */
  private def checkRows(inputs: Seq[FileScanTask]): Unit = {
    val (added, taken) =
      (written.values.map(_.recordCount: Long).sum, inputs.map(_.file.recordCount: Long).sum)
    if (added > taken)
      throw new ValidationException(
        "The new files have %s rows, those that others removed meanwhile included, and the files that they replace %s",
        Long.box(added),
        Long.box(taken))
  }

  /** No commit is under way, so that a failure leaves no file. */
  private def copy(deletes: Seq[DeleteFile]): Unit =
    try deletes.foreach(d => copies :+= d -> copied(d))
    catch {
      case NonFatal(e) =>
        notCommitted()
        e match {
          // the table has it no more
          case gone: NotFoundException => refused(gone)
          case _ => throw e
        }
    }

  /**
   * A delete file under a path of its own. Iceberg's clean-up deletes what an expired snapshot took away, also where a
   * later one has the same path again (apache/iceberg#17304).
   */
  private def copied(of: DeleteFile): DeleteFile = {
    val spec = table.specs.get(of.specId)
    val name = s"$runId-${UUID.randomUUID}-${new Path(of.location).getName}"
    val to =
      if (spec.isUnpartitioned) table.locationProvider.newDataLocation(name)
      else table.locationProvider.newDataLocation(spec, of.partition, name)
    // as they are, encrypted or not
    val in = table.io.newInputFile(of.location).newStream()
    try IOUtils.copyBytes(in, table.io.newOutputFile(to).create(), 1 << 16, true)
    catch { case NonFatal(e) => delete(Seq(to)); throw e }
    finally in.close()
    FileMetadata.deleteFileBuilder(spec).copy(of)
      .ofEqualityDeletes(of.equalityFieldIds.asScala.map(_.intValue).toArray: _*)
      .withPath(to).build()
  }

  override def mayRebase: Boolean = true

  override def rebase(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition]): Option[ChangedInputs] = {
    val inputs = partitions.flatMap(_.files)
    val found = if (newFilesGone) None else changedSince(inputs)
    found.flatMap { first =>
      // ids are read once, for so long that others may have gone on
      val isLater = changes.hasRowIds && first.removedAt.exists(_.nonEmpty) &&
        marked.read(session, inputs.map(_.path), unseen)
      if (isLater) changedSince(inputs) else Some(first)
    }.flatMap(on(session, partitions, _))
  }

  /** What has become of the inputs; None if that cannot be told. */
  private def changedSince(inputs: Seq[DataFile]): Option[ChangedFiles] =
    for {
      now <- changes.since(base)
      present <- changes.tasks(now, inputs.map(_.path).toSet)
      if IcebergChanges.areFew(present.keys.toSeq.map(tasks), present.values)
      found = ChangedInputs.ofEach(inputs)(f => changes.of(tasks(f.path), present.get(f.path)))
      if present.nonEmpty && found.forall(_._2.isDefined)
    } yield ChangedFiles(now, found.collect { case (file, Some(change)) => file.path -> change })

  private def on(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      changed: ChangedFiles): Option[ChangedInputs] = {
    import changed.{left, lost}
    val isMarked = lost.nonEmpty && changes.hasRowIds && changed.removedAt.exists(marked.mark(written, _))
    // Iceberg lets nobody add vectors who removes none
    if (marked.vectors.nonEmpty && !left.values.exists(_.deletes.asScala.exists(ContentFileUtil.isDV))) None
    else {
      val staying = partitions.map(
        _.only(f => left.get(f.path).map(task => f.copy(deleted = IcebergDeletes.rows(task)))))
      val touched = partitions.map(_.only(f => Some(f).filter(f => lost.contains(f.path))))
      val removed =
        if (lost.isEmpty || isMarked) None
        else Some(IcebergRows.removed(session, table, staged, touched, tasks, lost))
      dropCopies(changed.now)
      base = changed.now
      tasks = left
      Some(ChangedInputs(
        staying.flatMap(_.files),
        removed,
        () => IcebergRows(session, table, staged, staying, left),
        marked.counts))
    }
  }

  /** Those of deletes that the table has no more, which no commit could take away. */
  private def dropCopies(now: Snapshot): Unit = if (copies.nonEmpty) {
    val there = LaterDeletes.of(table, now).map(_.location).toSet
    val (stay, gone) = copies.partition { case (of, _) => there(of.location) }
    copies = stay
    delete(gone.map(_._2.location))
  }

  override def withdraw(files: Seq[WrittenFile]): Unit = {
    val paths = files.map(_.file.path)
    written --= paths
    marked.forget(paths)
    delete(paths)
  }

  /** The commit failed, or only its answer was lost: the snapshots tell. */
  private def afterAll(e: Throwable): Unit = Try(committed()) match {
    case Success(Some(id)) => logWarning(s"The run is the snapshot $id, whatever its commit said", e)
    case Success(None) => failed(e)
    case Failure(_) => unknown(e)
  }

  private def failed(e: Throwable): Nothing = {
    val causes = ExceptionUtils.getThrowables(e)
    e match {
      case _: CommitStateUnknownException => unknown(e)
      case _: ValidationException | _: CommitFailedException
          if !causes.exists(_.isInstanceOf[java.io.IOException]) =>
        notCommitted()
        refused(e)
      case _ =>
        val said =
          Seq("run" -> runId, "table" -> opened.name, "cause" -> ZOrderException.firstLine(causes.last))
        // what a vacuum looks for is there alone, whatever `write.data.path` says
        val data = new Path(table.location, "data")
        def isFound(file: String) = opened.listsFiles && new Path(file).toString.startsWith(s"$data/")
        val lost = allWritten.filterNot(isFound).toSeq.sorted
        if (lost.isEmpty) throw ZOrderException.over(e, "ZORDER_COMMIT_FAILED.ICEBERG", said: _*)
        else {
          logWarning(s"No snapshot has these files: ${lost.mkString(", ")}")
          val (condition, why) =
            if (opened.listsFiles) ("ZORDER_COMMIT_FAILED.ICEBERG_ELSEWHERE", "dir" -> data.toString)
            else ("ZORDER_COMMIT_FAILED.ICEBERG_NOT_LISTED", "io" -> table.io.getClass.getSimpleName)
          val left = Seq("count" -> lost.size, "file" -> lost.head, why)
          throw ZOrderException.over(e, condition, said ++ left: _*)
        }
    }
  }

  private def unknown(e: Throwable): Nothing = throw ZOrderException.over(
    e,
    "ZORDER_COMMIT_UNKNOWN.ICEBERG",
    "run" -> runId,
    "table" -> opened.name,
    "cause" -> ZOrderException.firstLine(e))

  /** The run's own snapshot. Others may have committed after it. */
  private def committed(): Option[Long] = {
    table.refresh()
    val newest = Snapshots.head(table, opened.branch)
    def until(snapshot: Long) = SnapshotUtil.ancestorsOf(snapshot, table.snapshot(_)).asScala
    // an earlier step of this run has its id, too; somebody may have rolled the table back to one
    val earlier = Try(until(start.snapshotId).map(_.snapshotId).toSet).getOrElse(Set(start.snapshotId))
    newest.toSeq.flatMap(s => until(s.snapshotId)).filterNot(s => earlier(s.snapshotId))
      .find(s => s.summary.get(IcebergWrite.RunId) == runId).map(_.snapshotId)
  }

  /** Once a commit was tried, only Iceberg knows whether the files belong to the table. */
  override def discard(): Unit = if (!submitted) delete(allWritten)

  private def allWritten: Iterable[String] = written.keys ++ marked.files ++ copies.map(_._2.location)

  private def delete(paths: Iterable[String]): Unit = paths.foreach { path =>
    try table.io.deleteFile(path)
    catch { case NonFatal(e) => logWarning(s"$path, which no table reads, could not be deleted", e) }
  }
}

private[iceberg] object IcebergWrite {
  val RunId = "zorder.clustering-id"

  /** New files of a run as short as this are not looked for: it saves a request for each. A test sets it. */
  @volatile private[iceberg] var sparedMs: Long = 10L * 60 * 1000

  /** The task that wrote a file. */
  val number: PartNumber = new PartNumber(
    "Iceberg",
    ".*?(\\d+)-\\d+-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}-[-0-9]+\\.parquet".r)

  /** One file for each shuffle partition, with its rows in their order. */
  def options(name: String, options: Map[String, String]): Map[String, String] = Map(
    "rewritten-file-scan-task-set-id" -> name,
    "target-file-size-bytes" -> Long.MaxValue.toString,
    // whatever the table's writers prefer
    "write-format" -> "parquet",
    "merge-schema" -> "false",
    "use-table-distribution-and-ordering" -> "false") ++
    options.get("compression").map("compression-codec" -> IcebergWriteProperties.codec(_))

  /** What the summary of the snapshot says about the run. */
  def summary(record: RunRecord): Map[String, String] = Map(
    RunId -> record.runId,
    "zorder.columns" -> record.columns.mkString(", "),
    "zorder.layout" -> record.layoutIds.values.toSeq.distinct.sorted.take(20).mkString(", "))
}

/** Iceberg's Parquet writer takes its options from table properties. These are the properties for one run. */
private[iceberg] object IcebergWriteProperties {

  /** Options of the Parquet writer under Spark's names, and the corresponding properties. */
  private val names = Map(
    "parquet.page.row.count.limit" -> PARQUET_PAGE_ROW_LIMIT,
    "parquet.page.size" -> PARQUET_PAGE_SIZE_BYTES,
    "parquet.bloom.filter.max.bytes" -> PARQUET_BLOOM_FILTER_MAX_BYTES)

  private val prefixes = Seq(
    "parquet.bloom.filter.enabled#" -> PARQUET_BLOOM_FILTER_COLUMN_ENABLED_PREFIX,
    "parquet.bloom.filter.expected.ndv#" -> "write.parquet.bloom-filter-ndv.column.")

  def of(options: Map[String, String]): Map[String, String] = options.flatMap {
    case ("compression", value) => Some(PARQUET_COMPRESSION -> codec(value))
    case ("parquet.block.size", value) => Some(PARQUET_ROW_GROUP_SIZE_BYTES -> RowGroupLimit.intBytes(value))
    case (key, value) =>
      names.get(key).orElse(prefixes.collectFirst {
        case (mine, theirs) if key.startsWith(mine) => theirs + key.stripPrefix(mine)
      }).map(_ -> value)
  }

  /** Spark 3.5 has a spelling of its own for one of them. */
  def codec(spark: String): String = if (spark == "lz4raw") "lz4_raw" else spark

  /** The table with these properties in addition to its own, for one write. */
  def on(table: Table, options: Map[String, String]): Table = {
    val own = IcebergRefusals.operations(table)
    val ours = of(options)
    new BaseTable(own, table.name) {
      override def properties: JMap[String, String] = {
        val all = new JHashMap[String, String](super.properties)
        ours.foreach { case (key, value) => all.put(key, value) }
        all
      }
    }
  }
}

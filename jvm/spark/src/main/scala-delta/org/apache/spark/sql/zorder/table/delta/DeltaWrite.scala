package org.apache.spark.sql.zorder.table.delta

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.analysis.UnresolvedAttribute
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.delta._
import org.apache.spark.sql.delta.actions.{AddFile, FileAction}
import org.apache.spark.sql.delta.schema.InvariantViolationException
import org.apache.spark.sql.delta.zorder.KeptRowIds
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.types.{StructField, StructType, TimestampType}
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ChangedInputs, CommitRequest, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{
  DataFile,
  InputRelation,
  PartNumber,
  PartitionValues,
  PinnedPartition
}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint, DriverReads}

/**
 * A rewrite in Delta's own transaction. Delta writes the files, with its statistics, and they replace the old ones
 * without a change of data. What others append meanwhile stays. If somebody changed one of the rewritten files, Delta
 * refuses the commit, and the next one is a transaction of its own.
 */
final private[delta] class DeltaWrite(
    table: DeltaClusterTable,
    log: DeltaLog,
    catalogTable: Option[CatalogTable],
    start: Snapshot,
    startFiles: Map[String, AddFile])
    extends TableWrite
    with Logging {

  private val changes = new DeltaChanges(table, log)

  // what the next commit is made against: the snapshot that was read, until somebody changes a file of it
  private var snapshot: Snapshot = start
  private var adds: Map[String, AddFile] = startFiles
  private var txn: OptimisticTransaction = log.startTransaction(catalogTable, Some(start))
  private var written: Map[String, AddFile] = Map.empty
  private var submitted = false
  private var newFilesGone = false

  override def root: Path = table.root

  override def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile] = ActiveSession.during(session) {
    DeltaWrite.settings(options, c => table.columnId(c.split('.').toSeq).getOrElse(c)).foreach {
      case (key, value) => session.conf.set(key, value)
    }
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val actions: Seq[FileAction] =
      try txn.writeFiles(Shims.ofRows(session, plan), None, isOptimize = true, additionalConstraints = Nil)
      catch { case NonFatal(e) => throw generatedOtherwise(e, zone).getOrElse(e) }
    val made = actions.collect { case add: AddFile =>
      val path = table.fullPath(add)
      val values = storedValues(add, partitionOf(DeltaWrite.number(path)), zone)
      val provider = table.liquid.provider
      path -> add.copy(partitionValues = values, dataChange = false, clusteringProvider = provider)
    }.toMap
    written ++= made
    CrashPoint.hit("delta-written")
    made.toSeq.sortBy(_._1).map { case (path, add) =>
      val file = DataFile(
        path,
        add.size,
        add.modificationTime,
        table.directory(add),
        timestamps = table.timestamps.boundsOf(add))
      WrittenFile(file, DataFile.below(root, file), DeltaWrite.number(path))
    }
  }

  /** Delta computes generated columns again, in the session's time zone, and takes no row that has other values. */
  private def generatedOtherwise(e: Throwable, zone: String): Option[ZOrderException] = {
    val said = ExceptionUtils.getThrowables(e).toSeq.collect { case violated: InvariantViolationException =>
      violated.getMessage
    }
    def isViolated(column: StructField): Boolean =
      said.exists(_.contains(s"Generated Column (${UnresolvedAttribute.quoted(column.name).sql} <=> "))
    val generated = table.schema.filter(GeneratedColumn.isGeneratedColumn(snapshot.protocol, _))
    generated.find(isViolated).map { column =>
      ZOrderException.over(
        e,
        "ZORDER_SESSION_REFUSED.DELTA_GENERATED_COLUMN",
        "column" -> column.name,
        "table" -> table.name,
        "zone" -> zone)
    }
  }

  /**
   * The texts of the partition values as the inputs have them, since a rewrite changes no value for any reader.
   * Delta writes timestamps anew, by the zones of the session and of the JVM, and every reader takes a text without
   * a zone in its own, and it makes NULL of an empty text. Other values that are not what the inputs have are left for
   * the verification to find.
   */
  private def storedValues(add: AddFile, partition: String, zone: String): Map[String, String] = {
    val schema = table.partitionSchema
    val timestamps = schema.map(_.dataType == TimestampType)
    def others(directory: String) =
      PartitionValues.asWritten(directory, schema, zone).zip(timestamps).collect { case (v, false) => v }
    inputs.get(partition).filter(_ => others(partition) == others(table.directory(add)))
      .fold(add.partitionValues) { input =>
        // a writer may leave the key of a NULL out, which Delta does not
        add.partitionValues.map { case (column, _) =>
          column -> input.partitionValues.getOrElse(column, null)
        }
      }
  }

  /** An input of each partition. */
  private lazy val inputs: Map[String, AddFile] =
    startFiles.values.map(add => table.directory(add) -> add).toMap

  override def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    DeltaRows(session, log, snapshot, partitions, written.map { case (path, add) => path -> numbered(add) })

  /** With row tracking, only the commit gives a file the first of its row ids, and Delta reads none without it. */
  private def numbered(add: AddFile): AddFile =
    add.copy(baseRowId = add.baseRowId.orElse(Some(0L)), defaultRowCommitVersion = Some(0L))

  override def commit(request: CommitRequest): Unit = {
    val now = System.currentTimeMillis
    val removes = request.inputs.map(f => adds(f.path).removeWithTimestamp(now, dataChange = false))
    val operation = DeltaOperations.Optimize(
      Nil,
      request.record.columns,
      auto = false,
      clusterBy = table.clusteredBy,
      isFull = request.inputs.exists(table.otherClusterer(_).isDefined))
    checkTable()
    table.state.pending.begin(request)
    submitted = true
    val version =
      try {
        DeltaMetrics.register(txn, log, written.values.toSeq, request.inputs)
        CrashPoint.hit("delta-commit")
        checkWritten(request.record.runId)
        txn.commit(written.values.toSeq ++ removes, operation, KeptRowIds.tags(snapshot))
      } catch {
        case e: org.apache.spark.sql.delta.DeltaConcurrentModificationException =>
          // a commit whose answer was lost conflicts with itself when it is tried again
          Cancellation.deferred(e)(versionOf(e).getOrElse {
            table.state.pending.abandon(request.record.runId)
            conflict(e)
          })
        case gone: ZOrderConflictException => throw gone
        case crash: CrashPoint.Crash => throw crash
        case Cancellation.OrNonFatal(e) => Cancellation.deferred(e)(versionOf(e).getOrElse(failed(e)))
      }
    CrashPoint.hit("delta-committed")
    table.state.pending.committed(request, Some(version))
  }

  /**
   * Delta sees no conflict with a table that has taken the place of this one and has no more versions, and would give it
   * this one's rows. It lets a commit pass beside `ALTER TABLE ... CLUSTER BY`, too, and its OPTIMIZE would leave our
   * files as they are; files that were written before the table became liquid have no name of ours.
   */
  private def checkTable(): Unit = {
    val now = log.update()
    if (!changes.sameIdentity(snapshot, now))
      throw new ZOrderConflictException("ZORDER_CONFLICT.OTHER_COMMIT", "table" -> table.name)
    if (!changes.sameClustering(snapshot, now))
      throw new ZOrderConflictException("ZORDER_CONFLICT.CLUSTERING_CHANGED", "table" -> table.name)
  }

  /**
   * Delta does not look whether new files are there. A vacuum with a short retention may have deleted them: of two runs
   * on a table, the first one that ends takes away the claim of the other one until that writes it again.
   */
  private def checkWritten(runId: String): Unit = {
    def notCommitted(): Unit = {
      table.state.pending.abandon(runId)
      submitted = false
    }
    val gone =
      try DeltaWrite.missing(table.paths, written.keys.toSeq.map(new Path(_)))
      catch { case e: Throwable => notCommitted(); throw e }
    gone.headOption.foreach { file =>
      notCommitted()
      newFilesGone = true
      throw new ZOrderConflictException("ZORDER_CONFLICT.NEW_FILES_DELETED", "dir" -> file.getParent)
    }
  }

  private def conflict(e: Exception): Nothing = {
    submitted = false
    throw new ZOrderConflictException(
      "ZORDER_CONFLICT.COMMIT_REFUSED",
      "table" -> table.name,
      "cause" -> ZOrderException.firstLine(e))
  }

  override def mayRebase: Boolean = true

  override def rebase(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition]): Option[ChangedInputs] = ActiveSession.during(session) {
    val now = log.update()
    val inputs = partitions.flatMap(_.files)
    lazy val present = {
      // snapshots spell a file's path alike, and a table may have many more files than a run takes
      val wanted = inputs.map(f => adds(f.path).path).toSet
      now.allFiles.filter((a: AddFile) => wanted(a.path)).collect().map(a => table.fullPath(a) -> a).toMap
    }
    lazy val lost = ChangedInputs.ofEach(inputs)(f => changes.lost(adds(f.path), present.get(f.path)))
    if (newFilesGone || !changes.sameTable(start, now) || present.isEmpty || lost.exists(_._2.isLeft)) None
    else {
      val gone = lost.collect { case (file, Right(Some(add))) => file.path -> add }
      val staying = partitions.map(
        _.only(f => present.get(f.path).map(add => f.copy(deleted = Some(add.numDeletedRecords)))))
      val touched = partitions.map(_.only(f => Some(f).filter(f => gone.contains(f.path))))
      val removed = if (gone.isEmpty) None else Some(DeltaRows(session, log, snapshot, touched, gone))
      snapshot = now
      adds = present
      txn = log.startTransaction(catalogTable, Some(now))
      Some(ChangedInputs(
        staying.flatMap(_.files),
        removed,
        () => DeltaRows(session, log, now, staying, present)))
    }
  }

  override def withdraw(files: Seq[WrittenFile]): Unit = {
    val paths = files.map(_.file.path)
    written --= paths
    delete(paths)
  }

  /** The commit failed, or only its answer was lost: Delta's log tells. */
  private def versionOf(e: Throwable): Option[Long] = {
    val paths = written.values.map(_.path).toSet
    // up to the snapshot there is no earlier attempt: with its inputs gone, it would have had no next one
    val found =
      try log.getChanges(snapshot.version + 1).collectFirst {
          case (version, actions) if actions.exists { case a: AddFile => paths(a.path); case _ => false } =>
            version
        }
      catch {
        case NonFatal(again) =>
          e.addSuppressed(again)
          throw ZOrderException.over(
            e,
            "ZORDER_COMMIT_UNKNOWN.DELTA",
            "table" -> table.name,
            "cause" -> ZOrderException.firstLine(e))
      }
    found.foreach(v => logWarning(s"Delta's log has the run as version $v, whatever its commit said", e))
    found
  }

  private def failed(e: Throwable): Nothing = throw ZOrderException.over(
    e,
    "ZORDER_COMMIT_FAILED.DELTA",
    "table" -> table.name,
    "cause" -> ZOrderException.firstLine(e))

  /** Once a commit was tried, only Delta knows whether the files belong to the table. */
  override def discard(): Unit =
    if (!submitted) delete(written.keys)

  private def delete(paths: Iterable[String]): Unit = {
    val fs = root.getFileSystem(log.newDeltaHadoopConf())
    paths.foreach(path => fs.delete(new Path(path), false))
  }
}

private[delta] object DeltaWrite {

  /** Those that are not there. Directories may have many more files than these, so that they are not listed. */
  private def missing(paths: DeltaPaths, files: Seq[Path]): Seq[Path] = {
    val there = DriverReads.each(files, DriverReads.MostRequests)(f => paths.fileSystem(f).exists(f))
    files.zip(there).collect { case (file, false) => file }
  }

  /** The task that wrote a file. */
  val number: PartNumber = new PartNumber("Delta", ".*part-(\\d+)-.*".r)

  /**
   * Delta takes no options of the Parquet writer, but reads them from the session's settings.
   *
   * @param inFiles
   *   a column's name there
   */
  def settings(options: Map[String, String], inFiles: String => String): Map[String, String] = options.map {
    case ("compression", codec) => "spark.sql.parquet.compression.codec" -> codec
    case (key, value) if key.contains('#') =>
      val (option, column) = key.splitAt(key.indexOf('#') + 1)
      (option + inFiles(column)) -> value
    case other => other
  }
}

/** The metrics of a run in `DESCRIBE HISTORY`, under Delta's names for an OPTIMIZE. */
private object DeltaMetrics {

  def register(
      txn: OptimisticTransaction,
      log: DeltaLog,
      added: Seq[AddFile],
      removed: Seq[DataFile]): Unit = {
    val session = org.apache.spark.sql.SparkSession.active
    val sizes = added.map(_.size).sorted.toIndexedSeq
    val values = Map(
      "numAddedFiles" -> added.length.toLong,
      "numRemovedFiles" -> removed.length.toLong,
      "numAddedBytes" -> sizes.sum,
      "numRemovedBytes" -> removed.map(_.length).sum,
      "numDeletionVectorsRemoved" -> removed.count(_.deleted.exists(_ > 0)).toLong,
      "minFileSize" -> sizes.headOption.getOrElse(0L),
      "p25FileSize" -> quantile(sizes, 0.25),
      "p50FileSize" -> quantile(sizes, 0.5),
      "p75FileSize" -> quantile(sizes, 0.75),
      "maxFileSize" -> sizes.lastOption.getOrElse(0L))
    txn.registerSQLMetrics(
      session,
      values.map { case (name, value) =>
        val metric = SQLMetrics.createMetric(session.sparkContext, name)
        metric.set(value)
        name -> metric
      })
  }

  private def quantile(sorted: IndexedSeq[Long], share: Double): Long =
    if (sorted.isEmpty) 0L else sorted(((sorted.length - 1) * share).toInt)
}

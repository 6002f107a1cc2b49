package org.apache.spark.sql.zorder.table.hudi

import java.io.{FileNotFoundException, IOException}

import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, Path}
import org.apache.hudi.HoodieDatasetBulkInsertHelper
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.common.model.FileSlice
import org.apache.hudi.data.HoodieJavaRDD
import org.apache.hudi.exception.{HoodieException, HoodieIOException}
import org.apache.hudi.table.HoodieSparkTable
import org.apache.spark.internal.Logging
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CommitRequest, TableWrite, WrittenFile}
import org.apache.spark.sql.zorder.table.file.{
  DataFile,
  InputRelation,
  PartNumber,
  PinnedPartition,
  RowGroupLimit
}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint}

/**
 * A rewrite as a clustering of Hudi's: planned before the first row is written, so that Hudi keeps others from
 * updating these files, and executed when the new files are verified. Rows that others insert meanwhile are in
 * files of their own and stay.
 */
final private[hudi] class HudiWrite(
    opened: HudiClusterTable,
    slices: Map[String, FileSlice],
    runId: String)
    extends TableWrite
    with Logging {

  private var planned: Option[PlannedClustering] = None
  private var written: Option[RDD[WriteStatus]] = None

  override def root: Path = opened.root

  override def write(
      session: ClassicSession,
      plan: LogicalPlan,
      partitionColumns: Seq[String],
      options: Map[String, String],
      partitionOf: Int => String): Seq[WrittenFile] = ActiveSession.during(session) {
    val chosen = HudiRows.files(plan).map(slices)
    val settings = opened.hudiProperties ++ HudiWriteSettings.of(options, runId)
    val clustering = new PlannedClustering(session, opened, chosen, runId, settings)
    planned = Some(clustering)
    clustering.schedule()
    val statuses = HudiRowWriter.write(Shims.ofRows(session, plan), clustering, options)
    written = Some(statuses)
    val files =
      statuses.map(s => s.getStat).map(s => (s.getPath, s.getFileSizeInBytes, s.getPartitionPath)).collect()
    CrashPoint.hit("hudi-written")
    val now = System.currentTimeMillis
    files.toSeq.sortBy(_._1).map { case (path, length, partition) =>
      WrittenFile(
        DataFile(new Path(root, path).toString, length, now, partition),
        path,
        HudiWrite.number(path))
    }
  }

  override def relation(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    HudiRows(session, root, partitions, dataSchema)

  override def commit(request: CommitRequest): Unit = {
    val clustering = planned.get
    val pending = opened.state.pending
    pending.begin(request)
    CrashPoint.hit("hudi-commit")
    try clustering.execute(written.get)
    catch {
      case Cancellation.OrNonFatal(e) if Cancellation.deferred(e)(isCommitted(clustering, e)) =>
        logWarning(s"Hudi committed ${clustering.instant} of ${opened.name}, and failed afterwards", e)
      case e: HoodieException =>
        pending.abandon(runId)
        refused(e)
      case e: ZOrderConflictException =>
        pending.abandon(runId)
        throw e
    }
    CrashPoint.hit("hudi-committed")
    pending.committed(request, Some(clustering.instant.toLong))
    release()
  }

  /** Where that cannot be found out, the next statement will: our pending record stays. */
  private def isCommitted(clustering: PlannedClustering, failed: Throwable): Boolean =
    try clustering.isCommitted
    catch {
      case NonFatal(e) =>
        failed.addSuppressed(e)
        throw failed
    }

  /** Others are to blame where Hudi itself refuses a commit, and the storage where it fails. */
  private def refused(e: HoodieException): Nothing = {
    val causes = ExceptionUtils.getThrowables(e)
    def said(cause: Throwable) =
      Seq("table" -> opened.name, "cause" -> ZOrderException.firstLine(cause))
    // another writer's rollback may have taken the instant away, or its commit have a file of that name
    val isOthers = causes.exists {
      case _: FileNotFoundException | _: FileAlreadyExistsException => true
      case _ => false
    }
    if (!isOthers && causes.exists(c => c.isInstanceOf[IOException] || c.isInstanceOf[HoodieIOException]))
      throw ZOrderException.over(e, "ZORDER_COMMIT_FAILED.HUDI", said(causes.last): _*)
    else throw new ZOrderConflictException("ZORDER_CONFLICT.HUDI_COMMIT_REFUSED", said(e): _*)
  }

  /** Hudi's own rollback knows from its markers which files to delete; after the commit there is none. */
  override def discard(): Unit =
    try planned.foreach(_.undo())
    finally release()

  private def release(): Unit = {
    written.foreach(_.unpersist())
    written = None
    planned.foreach(_.close())
    planned = None
  }
}

private[hudi] object HudiWrite {

  /** The task that wrote a file. */
  val number: PartNumber = new PartNumber("Hudi", ".*_(\\d+)-\\d+-\\d+_\\d+\\.parquet".r)
}

/** Writes rows as Hudi's own clustering does: they keep their keys and commit times. */
private object HudiRowWriter {

  /**
   * Writes each shuffle partition into one file.
   *
   * @return
   *   the status of each file. Reading it again must not write the files again under other names, so the run fails if
   *   an executor is lost with its statuses.
   */
  def write(
      rows: DataFrame,
      clustering: PlannedClustering,
      options: Map[String, String]): RDD[WriteStatus] = {
    val meta = clustering.metaClient(HudiWriteSettings.hadoop(_, options))
    val config = clustering.config
    val context = clustering.context.asInstanceOf[HoodieSparkEngineContext]
    val table = HoodieSparkTable.create[AnyRef](config, context, meta)
    val statuses = HoodieDatasetBulkInsertHelper.bulkInsert(
      rows,
      clustering.instant,
      table,
      config,
      arePartitionRecordsSorted = true,
      shouldPreserveHoodieMetadata = true)
    HoodieJavaRDD.getJavaRDD(statuses).rdd.localCheckpoint()
  }
}

/** Translates options of the Parquet writer from Spark's names to Hudi's. */
private[hudi] object HudiWriteSettings {

  /** Keeps Hudi from beginning a second file within a task: no table has files of so many bytes. */
  private val NoLimit = 1L << 50

  /** The row limit of a page is always Parquet's default: Hudi's writer has no setting for it. */
  private val PageRowLimit = "20000"

  private val Strategy = Map(
    "hoodie.clustering.plan.strategy.class" -> classOf[PinnedPlanStrategy].getName,
    "hoodie.clustering.execution.strategy.class" -> classOf[WrittenRowsStrategy].getName)

  /** Settings of Hudi's client for one run. */
  def of(options: Map[String, String], runId: String): Map[String, String] = {
    options.get("parquet.page.row.count.limit").filter(_ != PageRowLimit).foreach { rows =>
      refuse("ZORDER_INVALID_OPTION.HUDI_PAGE_ROW_LIMIT", "limit" -> PageRowLimit, "value" -> rows)
    }
    Strategy ++ Map(StrategyInputs.RunId -> runId, "hoodie.parquet.max.file.size" -> NoLimit.toString) ++
      options.get("parquet.block.size").map("hoodie.parquet.block.size" -> RowGroupLimit.intBytes(_)) ++
      options.get("parquet.page.size").map("hoodie.parquet.page.size" -> _) ++
      options.get("compression").map("hoodie.parquet.compression.codec" -> codec(_))
  }

  /** Bloom filters of columns are requested in Hadoop's settings. */
  def hadoop(conf: Configuration, options: Map[String, String]): Configuration = {
    options.filterKeys(_.startsWith("parquet.bloom.filter.")).foreach { case (key, value) =>
      conf.set(key, value)
    }
    conf
  }

  private def codec(spark: String): String = spark match {
    case "none" => "uncompressed"
    case "lz4raw" => "lz4_raw"
    case other => other
  }
}

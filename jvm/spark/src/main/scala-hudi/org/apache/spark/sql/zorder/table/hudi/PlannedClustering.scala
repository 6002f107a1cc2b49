package org.apache.spark.sql.zorder.table.hudi

import java.io.FileNotFoundException
import java.util.{Collections, List => JList, Map => JMap}
import java.util.concurrent.ConcurrentHashMap

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hudi.avro.model.HoodieClusteringPlan
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.common.data.HoodieData
import org.apache.hudi.common.engine.HoodieEngineContext
import org.apache.hudi.common.heartbeat.HoodieHeartbeatUtils
import org.apache.hudi.common.model.{FileSlice, HoodieKey, HoodieRecord}
import org.apache.hudi.common.schema.HoodieSchema
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.table.timeline.HoodieTimeline
import org.apache.hudi.common.util.{ClusteringUtils, Option => HudiOption}
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.hudi.data.HoodieJavaRDD
import org.apache.hudi.table.HoodieTable
import org.apache.hudi.table.action.HoodieWriteMetadata
import org.apache.hudi.table.action.cluster.ClusteringPlanActionExecutor
import org.apache.hudi.table.action.cluster.strategy.{ClusteringExecutionStrategy, ClusteringPlanStrategy}
import org.apache.hudi.util.Lazy
import org.apache.spark.rdd.RDD
import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** One clustering in Hudi's timeline, from its plan to its commit or its rollback. */
final private[hudi] class PlannedClustering(
    session: ClassicSession,
    opened: HudiClusterTable,
    slices: Seq[FileSlice],
    runId: String,
    settings: Map[String, String]) {

  private val basePath = opened.root.toString
  private val client = HudiClient.open(session, basePath, settings ++ HudiClient.Heartbeat)
  private var scheduled: Option[String] = None
  private var openWrites: Set[String] = Set.empty

  /** Hudi's name of the plan and of its commit. */
  def instant: String = scheduled.get

  def config: HoodieWriteConfig = client.getConfig

  def context: HoodieEngineContext = client.getEngineContext

  /** The table as it is now. */
  def metaClient(conf: Configuration => Configuration = identity): HoodieTableMetaClient =
    HudiFormat.metaClient(conf(session.sessionState.newHadoopConf()), basePath)

  /** From now on Hudi rejects updates of these files. */
  def schedule(): Unit = ActiveSession.during(session) {
    StrategyInputs.plan(runId, slices)
    val found = client.scheduleClustering(HudiOption.empty())
    if (!found.isPresent)
      throw new IllegalStateException(s"Hudi planned no clustering of ${opened.name}")
    scheduled = Some(found.get)
    val now = metaClient()
    openWrites = UnfinishedWrites.of(now).keySet
    refuseDead(now)
    unchanged(now)
  }

  /** Commits the written files. */
  def execute(statuses: RDD[WriteStatus]): Unit = ActiveSession.during(session) {
    val now = metaClient()
    // an overwrite that began since the plan replaces the files that it has seen, and not those of the run
    UnfinishedWrites.of(now).collectFirst {
      case (write, action) if openWrites(write) || action == HoodieTimeline.REPLACE_COMMIT_ACTION => write
    }.foreach(underWay)
    unchanged(now)
    StrategyInputs.write(runId, statuses)
    client.cluster(instant, true)
    ()
  }

  /** Whether the commit took place, whatever failed in it. */
  def isCommitted: Boolean =
    metaClient().getActiveTimeline.filterCompletedInstants().getInstants.asScala
      .exists(_.requestedTime == instant)

  def undo(): Unit = scheduled.foreach { at =>
    ActiveSession.during(session)(DeadRuns.undo(client, at))
    if (!isCommitted) {
      val fs = opened.root.getFileSystem(session.sessionState.newHadoopConf())
      DeadRuns.sweep(fs, opened.root, slices.map(_.getPartitionPath).distinct, at)
    }
  }

  def close(): Unit = {
    StrategyInputs.forget(runId)
    client.close()
  }

  /** A write that nobody will end would refuse the commit after all rows are written. */
  private def refuseDead(meta: HoodieTableMetaClient): Unit = {
    val dead = openWrites.filter(UnfinishedWrites.isDead(meta, config, _))
    // a write that has ended since has no heartbeat either
    if (dead.nonEmpty) UnfinishedWrites.of(metaClient()).keys.find(dead).foreach(underWay)
  }

  private def underWay(write: String): Nothing =
    conflict("ZORDER_CONFLICT.HUDI_WRITE_UNDER_WAY", "instant" -> write)

  private def unchanged(meta: HoodieTableMetaClient): Unit = {
    val at = instant
    val now = HudiSnapshot.of(session, meta, Some(slices.map(_.getPartitionPath).distinct))
    slices.foreach { slice =>
      val same = now.byGroup.get(slice.getFileGroupId).exists { found =>
        found.getBaseFile.isPresent && !found.hasLogFiles &&
        found.getBaseFile.get.getFileName == slice.getBaseFile.get.getFileName
      }
      if (!same) conflict("ZORDER_CONFLICT.HUDI_FILE_GROUP_CHANGED", "group" -> slice.getFileId)
      now.pending.get(slice.getFileGroupId) match {
        case Some(`at`) =>
        case Some(other) =>
          conflict("ZORDER_CONFLICT.HUDI_OTHER_PLAN", "group" -> slice.getFileId, "instant" -> other)
        case None => conflict("ZORDER_CONFLICT.HUDI_PLAN_GONE", "instant" -> at)
      }
    }
  }

  private def conflict(condition: String, parameters: (String, Any)*): Nothing =
    throw new ZOrderConflictException(condition, ("table" -> opened.name) +: parameters: _*)
}

/** Writes that Hudi's timeline has the beginning of, and not the end. It is unknown which files they change. */
private[hudi] object UnfinishedWrites {

  /** By their instants: what they do. A write that began before a plan does not know the plan. */
  def of(meta: HoodieTableMetaClient): Map[String, String] = {
    val clusterings =
      ClusteringUtils.getPendingClusteringInstantTimes(meta).asScala.map(_.requestedTime).toSet
    meta.getActiveTimeline.getCommitsTimeline.filterInflightsAndRequested().getInstants.asScala
      .map(i => i.requestedTime -> i.getAction).toMap -- clusterings
  }

  /**
   * Whether nobody is at work on a write, as far as heartbeats tell. Writers have them under the cleaning policy LAZY
   * alone.
   */
  def isDead(meta: HoodieTableMetaClient, config: HoodieWriteConfig, instant: String): Boolean = {
    val beat =
      try HoodieHeartbeatUtils.getLastHeartbeatTime(
          meta.getStorage,
          meta.getBasePath.toString,
          instant).longValue
      catch { case _: FileNotFoundException => 0L } // it has ended just now
    (beat != 0 || config.getFailedWritesCleanPolicy.isLazy) &&
    System.currentTimeMillis - beat > DeadRuns.WrongClockMs
  }

  /** One sentence on a write that is not finished, for dry runs. */
  def notice(name: String, meta: HoodieTableMetaClient): Option[String] =
    of(meta).keys.toSeq.sorted.headOption.map { instant =>
      s"The write $instant of $name is not finished: a run in place commits only after it has ended or was rolled back."
    }
}

/**
 * Plans exactly the file slices that a run has listed. Those of a partition are one group, whatever their sizes.
 * Hudi instantiates this class by name, while it holds its lock.
 */
final class PinnedPlanStrategy(
    table: HoodieTable[_, _, _, _],
    context: HoodieEngineContext,
    config: HoodieWriteConfig)
    extends ClusteringPlanStrategy[AnyRef, AnyRef, AnyRef, AnyRef](table, context, config) {

  private def runId: String = config.getProps.getString(StrategyInputs.RunId)

  override def generateClusteringPlan(
      executor: ClusteringPlanActionExecutor[_, _, _, _],
      partitions: Lazy[JList[String]]): HudiOption[HoodieClusteringPlan] = {
    val groups = StrategyInputs.planned(runId).groupBy(_.getPartitionPath).toSeq.sortBy(_._1).map {
      case (_, slices) => slices.sortBy(_.getFileId).asJava
    }
    HudiOption.of(
      ClusteringUtils.createClusteringPlan(
        config.getClusteringExecutionStrategyClass,
        getStrategyParams,
        groups.toArray,
        getExtraMetadata))
  }

  override protected def getStrategyParams: JMap[String, String] = Collections.emptyMap[String, String]()

  override protected def getExtraMetadata: JMap[String, String] =
    Collections.singletonMap(DeadRuns.RunId, runId)
}

/** Executes a plan whose files a run has already written and verified. Hudi instantiates this class by name. */
final class WrittenRowsStrategy(
    table: HoodieTable[_, _, _, _],
    context: HoodieEngineContext,
    config: HoodieWriteConfig)
    extends ClusteringExecutionStrategy[
      AnyRef,
      HoodieData[HoodieRecord[AnyRef]],
      HoodieData[HoodieKey],
      HoodieData[WriteStatus]](table, context, config) {

  override def performClustering(
      plan: HoodieClusteringPlan,
      schema: HoodieSchema,
      instant: String): HoodieWriteMetadata[HoodieData[WriteStatus]] = {
    val statuses = StrategyInputs.statuses(writeConfig.getProps.getString(StrategyInputs.RunId))
    val metadata = new HoodieWriteMetadata[HoodieData[WriteStatus]]
    metadata.setWriteStatuses(HoodieJavaRDD.of(statuses.toJavaRDD()))
    metadata
  }
}

/**
 * What a run hands to the strategies that Hudi instantiates by class name. It stays on this driver, under the id of
 * the run, which is in the settings of Hudi's client.
 */
private[hudi] object StrategyInputs {

  /** A setting of the client. */
  val RunId = "hoodie.zorder.run.id"

  private val inputs = new ConcurrentHashMap[String, Seq[FileSlice]]
  private val written = new ConcurrentHashMap[String, RDD[WriteStatus]]

  def plan(runId: String, slices: Seq[FileSlice]): Unit = {
    inputs.put(runId, slices)
    ()
  }

  /** The file slices that the run replaces. */
  def planned(runId: String): Seq[FileSlice] = found(inputs.get(runId), runId)

  def write(runId: String, statuses: RDD[WriteStatus]): Unit = {
    written.put(runId, statuses)
    ()
  }

  /** What Hudi commits: the status of each file that the run has written. */
  def statuses(runId: String): RDD[WriteStatus] = found(written.get(runId), runId)

  def forget(runId: String): Unit = {
    inputs.remove(runId)
    written.remove(runId)
    ()
  }

  private def found[A](value: A, runId: String): A =
    if (value == null)
      throw new IllegalStateException(s"The clustering run $runId is not in progress on this driver")
    else value
}

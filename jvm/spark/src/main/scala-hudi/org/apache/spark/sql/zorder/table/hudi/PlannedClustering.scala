package org.apache.spark.sql.zorder.table.hudi

import scala.collection.JavaConverters._

import org.apache.hadoop.conf.Configuration
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.common.engine.HoodieEngineContext
import org.apache.hudi.common.model.FileSlice
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.util.{ClusteringUtils, Option => HudiOption}
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.hudi.hadoop.fs.HadoopFSUtils

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
  private val client = HudiClient.open(session, basePath, settings)
  private var scheduled: Option[String] = None
  private var openWrites: Set[String] = Set.empty

  /** Hudi's name of the plan and of its commit. */
  def instant: String = scheduled.get

  def config: HoodieWriteConfig = client.getConfig

  def context: HoodieEngineContext = client.getEngineContext

  /** The table as it is now. */
  def metaClient(conf: Configuration => Configuration = identity): HoodieTableMetaClient =
    HoodieTableMetaClient.builder().setBasePath(basePath)
      .setConf(HadoopFSUtils.getStorageConfWithCopy(conf(session.sessionState.newHadoopConf()))).build()

  /** From now on Hudi rejects updates of these files. */
  def schedule(): Unit = ActiveSession.during(session) {
    StrategyInputs.plan(runId, slices)
    val found = client.scheduleClustering(HudiOption.empty())
    if (!found.isPresent)
      throw new IllegalStateException(s"Hudi planned no clustering of ${opened.name}")
    scheduled = Some(found.get)
    val now = metaClient()
    openWrites = writesUnderWay(now)
    unchanged(now)
  }

  /** Commits the written files. */
  def execute(statuses: RDD[WriteStatus]): Unit = ActiveSession.during(session) {
    val now = metaClient()
    openWrites.intersect(writesUnderWay(now)).headOption.foreach { write =>
      conflict(
        s"the write $write began before the run and is not finished, so that nobody knows which files " +
          "it changes; let it end, or let Hudi roll it back")
    }
    unchanged(now)
    StrategyInputs.write(runId, statuses)
    client.cluster(instant, true)
    ()
  }

  def undo(): Unit = scheduled.foreach { at =>
    ActiveSession.during(session)(DeadRuns.undo(client, at))
  }

  def close(): Unit = {
    StrategyInputs.forget(runId)
    client.close()
  }

  /** A write that began before the plan does not know the plan. */
  private def writesUnderWay(meta: HoodieTableMetaClient): Set[String] = {
    val clusterings =
      ClusteringUtils.getPendingClusteringInstantTimes(meta).asScala.map(_.requestedTime).toSet
    meta.getActiveTimeline.getCommitsTimeline.filterInflightsAndRequested().getInstants.asScala
      .map(_.requestedTime).toSet -- clusterings
  }

  private def unchanged(meta: HoodieTableMetaClient): Unit = {
    val at = instant
    val now = HudiSnapshot.of(session, meta, Some(slices.map(_.getPartitionPath).distinct))
    slices.foreach { slice =>
      val same = now.byGroup.get(slice.getFileGroupId).exists { found =>
        found.getBaseFile.isPresent && !found.hasLogFiles &&
        found.getBaseFile.get.getFileName == slice.getBaseFile.get.getFileName
      }
      if (!same) conflict(s"somebody changed the file group ${slice.getFileId}")
      now.pending.get(slice.getFileGroupId) match {
        case Some(`at`) =>
        case Some(other) =>
          conflict(s"the file group ${slice.getFileId} is in the clustering or compaction $other")
        case None => conflict(s"somebody rolled the plan $at back, or executed it")
      }
    }
  }

  private def conflict(why: String): Nothing =
    throw new ZOrderConflictException(
      s"${opened.name} changed while this run rewrote it: $why. Nothing was changed, run it again.")
}

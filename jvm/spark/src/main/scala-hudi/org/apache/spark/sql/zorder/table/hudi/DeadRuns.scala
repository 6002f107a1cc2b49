package org.apache.spark.sql.zorder.table.hudi

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import org.apache.hudi.client.heartbeat.HeartbeatUtils
import org.apache.hudi.common.heartbeat.HoodieHeartbeatUtils
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.util.{ClusteringUtils, Option => HudiOption}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** Runs that died between their plan and their commit: their plan would keep others from those files. */
private[hudi] object DeadRuns extends Logging {
  val HeartbeatMs = 5000
  val ToleratedMisses = 4

  private val PollMs = 500L

  /** A run that has not shown a sign of life for so long is dead. */
  val PatienceMs: Long = HeartbeatMs.toLong * ToleratedMisses

  /** In a plan's metadata: that it is ours. */
  val RunId = "zorder.run-id"

  /**
   * Undoes what dead runs left, by Hudi's own rollback: the plan, the markers and the files. Where a run may be
   * alive, waits until its heart beats again or its time is over.
   */
  def rollBack(session: ClassicSession, meta: HoodieTableMetaClient): Unit = {
    val dead = pending(meta).filter(isDead(meta, _))
    if (dead.nonEmpty) HudiClient.during(session, meta.getBasePath.toString) { client =>
      dead.foreach { instant =>
        logWarning(s"The clustering $instant of ${meta.getBasePath} died and is rolled back")
        undo(client, instant)
      }
      meta.reloadActiveTimeline()
    }
  }

  /** One sentence on a run that is planned or under way, for whoever may not undo it. */
  def said(
      name: String,
      meta: HoodieTableMetaClient): Option[String] = pending(meta).headOption.map { instant =>
    s"The run of the clustering $instant is at work on $name, or died: this statement has read the table as it is " +
      "and left that alone."
  }

  private def isDead(meta: HoodieTableMetaClient, instant: String): Boolean = {
    val (storage, basePath) = (meta.getStorage, meta.getBasePath.toString)
    def beat: Long = HoodieHeartbeatUtils.getLastHeartbeatTime(storage, basePath, instant)
    val seen = beat
    @tailrec def watch(): Boolean =
      if (HoodieHeartbeatUtils.isHeartbeatExpired(instant, PatienceMs, storage, basePath)) true
      else if (beat != seen) false
      else {
        Thread.sleep(PollMs)
        watch()
      }
    watch()
  }

  /** Rolls a planned clustering back that nobody executes any more; harmless after its commit. */
  def undo(client: HudiClient.Client, instant: String): Unit = {
    val config = client.getConfig
    val meta = HoodieTableMetaClient.builder().setBasePath(config.getBasePath)
      .setConf(client.getEngineContext.getStorageConf.newInstance()).build()
    if (pending(meta).contains(instant)) {
      // Hudi rolls back what has begun, and files may have been written for a plan that is only requested
      val requested =
        ClusteringUtils.getRequestedClusteringInstant(
          instant,
          meta.getActiveTimeline,
          meta.getInstantGenerator)
      val inflight =
        ClusteringUtils.getInflightClusteringInstant(
          instant,
          meta.getActiveTimeline,
          meta.getInstantGenerator)
      if (!inflight.isPresent)
        ClusteringUtils.transitionClusteringOrReplaceRequestedToInflight(
          requested.get,
          HudiOption.empty[AnyRef](),
          meta.getActiveTimeline)
      client.purgePendingClustering(instant)
      HeartbeatUtils.deleteHeartbeatFile(meta.getStorage, config.getBasePath, instant)
    }
  }

  /** Clusterings of ours that are planned or under way. */
  private def pending(meta: HoodieTableMetaClient): Seq[String] =
    ClusteringUtils.getAllPendingClusteringPlans(meta).iterator.asScala
      .filter(p => Option(p.getRight.getExtraMetadata).exists(_.containsKey(RunId)))
      .map(_.getLeft.requestedTime).toList
}

package org.apache.spark.sql.zorder.table.hudi

import scala.annotation.tailrec
import scala.collection.JavaConverters._

import org.apache.hudi.client.heartbeat.HeartbeatUtils
import org.apache.hudi.common.heartbeat.HoodieHeartbeatUtils
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.util.{ClusteringUtils, Option => HudiOption}

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** Runs that died between their plan and their commit: the plan would lock the files for others. */
private[hudi] object DeadRuns extends Logging {
  val HeartbeatMs = 5000
  val ToleratedMisses = 4

  private val PollMs = 500L

  /** A run without a heartbeat for so long is dead. */
  val PatienceMs: Long = HeartbeatMs.toLong * ToleratedMisses

  /** Marks a plan as ours, in its metadata. */
  val RunId = "zorder.run-id"

  /**
   * Undoes what dead runs have left with Hudi's own rollback: the plan, the markers and the files. If a run may be
   * alive, waits for its next heartbeat or until it counts as dead.
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

  /** One sentence on a run that is planned or in progress, for statements that only read. */
  def notice(
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

  /** Rolls back a planned clustering that nobody executes any more. It has no effect after a commit. */
  def undo(client: HudiClient.Client, instant: String): Unit = {
    val config = client.getConfig
    val meta = HoodieTableMetaClient.builder().setBasePath(config.getBasePath)
      .setConf(client.getEngineContext.getStorageConf.newInstance()).build()
    if (pending(meta).contains(instant)) {
      // Hudi rolls back only what is in flight, and files may have been written for a requested plan
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

  /** Our clusterings that are planned or in progress. */
  private def pending(meta: HoodieTableMetaClient): Seq[String] =
    ClusteringUtils.getAllPendingClusteringPlans(meta).iterator.asScala
      .filter(p => Option(p.getRight.getExtraMetadata).exists(_.containsKey(RunId)))
      .map(_.getLeft.requestedTime).toList
}

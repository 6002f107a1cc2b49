package org.apache.spark.sql.zorder.table.hudi

import scala.collection.JavaConverters._

import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.common.config.HoodieMetadataConfig
import org.apache.hudi.common.fs.FSUtils
import org.apache.hudi.common.model.{FileSlice, HoodieFileGroupId}
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.common.table.view.{FileSystemViewManager, HoodieTableFileSystemView}

import org.apache.spark.api.java.JavaSparkContext
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * The newest file slice of every file group, from Hudi's view of the completed instants.
 *
 * @param slices
 *   in the order of the partitions
 * @param pending
 *   file groups with a planned clustering or compaction, and its instant
 */
final private[hudi] case class HudiSnapshot(slices: Seq[FileSlice], pending: Map[HoodieFileGroupId, String]) {

  /** Slices by their file groups. */
  lazy val byGroup: Map[HoodieFileGroupId, FileSlice] = slices.map(s => s.getFileGroupId -> s).toMap
}

private[hudi] object HudiSnapshot {

  /** @param partitions where to look; None for the whole table */
  def of(
      session: ClassicSession,
      meta: HoodieTableMetaClient,
      partitions: Option[Seq[String]] = None): HudiSnapshot = {
    val context = new HoodieSparkEngineContext(new JavaSparkContext(session.sparkContext))
    val config =
      HoodieMetadataConfig.newBuilder().enable(meta.getTableConfig.isMetadataTableAvailable).build()
    val view = FileSystemViewManager.createInMemoryFileSystemViewWithTimeline(
      context,
      meta,
      config,
      // files of a write in progress would count as the newest, and then be left out as not committed
      meta.getActiveTimeline.getCommitsAndCompactionTimeline.filterCompletedAndCompactionInstants())
    try {
      val all = partitions.getOrElse(
        FSUtils.getAllPartitionPaths(context, meta, config).asScala).toSeq.sorted
      view.loadPartitions(all.asJava)
      HudiSnapshot(all.flatMap(p => view.getLatestFileSlices(p).iterator.asScala), pending(view))
    } finally view.close()
  }

  private def pending(view: HoodieTableFileSystemView): Map[HoodieFileGroupId, String] = {
    val clustered = view.getFileGroupsInPendingClustering.iterator.asScala
      .map(p => p.getLeft -> p.getRight.requestedTime)
    val compacted = (view.getPendingCompactionOperations.iterator.asScala ++
      view.getPendingLogCompactionOperations.iterator.asScala)
      .map(p => p.getRight.getFileGroupId -> p.getLeft)
    (clustered ++ compacted).toMap
  }
}

package org.apache.spark.sql.zorder.table.hudi

import org.apache.hudi.HoodieCLIUtils
import org.apache.hudi.client.SparkRDDWriteClient
import org.apache.hudi.common.table.HoodieTableMetaClient
import org.apache.hudi.index.record.HoodieRecordIndex
import org.apache.hudi.metadata.MetadataPartitionType

import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/**
 * Hudi's client for writing to one table, with the session's `hoodie.*` settings and those of the table. The caller
 * closes it.
 */
private[hudi] object HudiClient {

  type Client = SparkRDDWriteClient[_]

  /** Turns off all services that the run does not ask for, and that Hudi deletes indexes which no setting names. */
  private val Pinned: Map[String, String] = Map(
    "hoodie.table.services.enabled" -> "true",
    "hoodie.clustering.inline" -> "false",
    "hoodie.clustering.async.enabled" -> "false",
    "hoodie.clustering.schedule.inline" -> "false",
    "hoodie.compact.inline" -> "false",
    "hoodie.compact.schedule.inline" -> "false",
    "hoodie.clean.async.enabled" -> "false",
    "hoodie.archive.async" -> "false",
    "hoodie.metadata.auto.delete.partitions" -> "false"
  )

  /**
   * Of the client of a run: its plan has a heartbeat, by which others see whether it lives. No other client of ours has
   * these settings, since Hudi's cleaner judges by its own whether the writes of others live.
   */
  val Heartbeat: Map[String, String] = Map(
    "hoodie.clustering.enable.expirations" -> "true",
    "hoodie.client.heartbeat.interval_in_ms" -> DeadRuns.HeartbeatMs.toString,
    "hoodie.client.heartbeat.tolerable.misses" -> DeadRuns.ToleratedMisses.toString)

  /** What a table's properties say to Hudi's client. By the path of a table, Hudi does not look for them. */
  def settings(properties: Map[String, String]): Map[String, String] =
    properties.filter(_._1.startsWith("hoodie."))

  def open(session: ClassicSession, basePath: String, more: Map[String, String] = Map.empty): Client =
    ActiveSession.during(session) {
      val kept = metadata(HudiFormat.metaClient(session, basePath))
      HoodieCLIUtils.createHoodieWriteClient(session, basePath, more ++ Pinned ++ kept, None)
    }

  /** Keeps a table's metadata table and its record index up to date, whatever the session's settings are. */
  private def metadata(meta: HoodieTableMetaClient): Map[String, String] = {
    val index = MetadataPartitionType.RECORD_INDEX
    val config = meta.getTableConfig
    val enabled =
      if (config.isMetadataTableAvailable) Map("hoodie.metadata.enable" -> "true")
      else Map.empty[String, String]
    if (!config.isMetadataPartitionAvailable(index)) enabled
    else {
      // an index of each partition has other keys than one of the whole table
      val definition = meta.getIndexForMetadataPartition(index.getPartitionPath)
      val ofPartitions = definition.isPresent && HoodieRecordIndex.isPartitioned(definition.get)
      enabled + ("hoodie.metadata.record.level.index.enable" -> ofPartitions.toString)
    }
  }

  def during[A](
      session: ClassicSession,
      basePath: String,
      more: Map[String, String] = Map.empty)(body: Client => A): A = {
    val client = open(session, basePath, more)
    try ActiveSession.during(session)(body(client))
    finally client.close()
  }
}

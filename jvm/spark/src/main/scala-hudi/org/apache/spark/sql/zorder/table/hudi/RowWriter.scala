package org.apache.spark.sql.zorder.table.hudi

import org.apache.hudi.HoodieDatasetBulkInsertHelper
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.data.HoodieJavaRDD
import org.apache.hudi.table.HoodieSparkTable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame

/** Writes rows as Hudi's own clustering does: with their keys and commit times as they were. */
private[hudi] object RowWriter {

  /**
   * Writes each shuffle partition into one file.
   *
   * @return
   *   a status of each file. Nothing is written a second time under other names when it is read again: where
   *   an executor is lost with its statuses, the run fails.
   */
  def write(
      rows: DataFrame,
      clustering: PlannedClustering,
      options: Map[String, String]): RDD[WriteStatus] = {
    val meta = clustering.metaClient(WriteSettings.hadoop(_, options))
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

package org.apache.spark.sql.zorder.table.hudi

import org.apache.hudi.HoodieDatasetBulkInsertHelper
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.data.HoodieJavaRDD
import org.apache.hudi.table.HoodieSparkTable

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.DataFrame

/** Writes rows as Hudi's own clustering does: they keep their keys and commit times. */
private[hudi] object HudiRowWriter {

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

package org.apache.spark.sql.zorder.table.hudi

import org.apache.hudi.avro.model.HoodieClusteringPlan
import org.apache.hudi.client.WriteStatus
import org.apache.hudi.common.data.HoodieData
import org.apache.hudi.common.engine.HoodieEngineContext
import org.apache.hudi.common.model.{HoodieKey, HoodieRecord}
import org.apache.hudi.common.schema.HoodieSchema
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.hudi.data.HoodieJavaRDD
import org.apache.hudi.table.HoodieTable
import org.apache.hudi.table.action.HoodieWriteMetadata
import org.apache.hudi.table.action.cluster.strategy.ClusteringExecutionStrategy

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

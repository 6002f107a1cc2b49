package org.apache.spark.sql.zorder.table.hudi

import java.util.{Collections, List => JList, Map => JMap}

import scala.collection.JavaConverters._

import org.apache.hudi.avro.model.HoodieClusteringPlan
import org.apache.hudi.common.engine.HoodieEngineContext
import org.apache.hudi.common.util.{ClusteringUtils, Option => HudiOption}
import org.apache.hudi.config.HoodieWriteConfig
import org.apache.hudi.table.HoodieTable
import org.apache.hudi.table.action.cluster.ClusteringPlanActionExecutor
import org.apache.hudi.table.action.cluster.strategy.ClusteringPlanStrategy
import org.apache.hudi.util.Lazy

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

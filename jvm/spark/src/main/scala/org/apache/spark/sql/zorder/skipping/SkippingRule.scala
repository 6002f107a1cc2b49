package org.apache.spark.sql.zorder.skipping

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.datasources.{LogicalRelation, PruneFileSourcePartitions}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.skipping.aggregate.AggregateRule
import org.apache.spark.sql.zorder.skipping.scan.{IndexedScan, ScanIndexes}
import org.apache.spark.sql.zorder.skipping.topk.TopRowsRule

/**
 * Puts a file index that skips into every scan of plain Parquet whose table has a statistics index, answers aggregates
 * from the index, and tells scans of the first rows that a query wants: in one pass, from the scans upwards.
 *
 * It runs before cost-based optimisation and so before Spark prunes partitions, which Spark does only for a class of
 * index that the scan has no longer afterwards: so partitions are pruned first.
 */
final case class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SessionKeys.SkippingEnabled.orDefault(conf)) plan
    else {
      val indexes = new ScanIndexes(session)
      val scans = plan.collect { case l: LogicalRelation => l }
      val isNew = scans.exists(indexes.of(_).isDefined)
      // it may come to a plan again, whose scans skip already
      if (!isNew && !scans.exists(IndexedScan.is)) plan
      else {
        val pruned = if (isNew) PruneFileSourcePartitions(plan) else plan
        pruned.transformUp(indexes.intoScans.orElse(AggregateRule.fromIndex).orElse(TopRowsRule.marks))
      }
    }
}

package org.apache.spark.sql.zorder.skipping.scan

import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.execution.datasources.LogicalRelation

/** Finds the scans that rules may mark: of plain Parquet with an index, and of the formats that plan their files. */
object ScanBelow {
  def unapply(plan: LogicalPlan): Option[PruningScan] = plan match {
    case l: LogicalRelation => PruningScan.of(l)
    case leaf: LeafNode => ScansOfFormats.scan(leaf)
    case _ => None
  }

  /** All of a plan. */
  def all(plan: LogicalPlan): Seq[PruningScan] = plan.collect { case ScanBelow(scan) => scan }
}

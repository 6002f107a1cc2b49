package org.apache.spark.sql.zorder.skip.scan

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions.AttributeSet
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}

/** A scan whose files may be left out, for rules that come after [[SkippingRule]]. */
object IndexedScan {
  def unapply(plan: LogicalPlan): Option[(LogicalRelation, HadoopFsRelation, SkippingFileIndex)] =
    plan match {
      case l: LogicalRelation => l.relation match {
          case r: HadoopFsRelation => r.location match {
              case s: SkippingFileIndex => Some((l, r, s))
              case _ => None
            }
          case _ => None
        }
      case _ => None
    }

  def in(plan: LogicalPlan): Boolean = plan.exists(unapply(_).isDefined)

  /** Whether a file that is listed is also read, or the query fails: only then may rows be counted on. */
  def readsAllListed(r: HadoopFsRelation): Boolean = {
    val options = new FileSourceOptions(r.options)
    r.bucketSpec.isEmpty && !options.ignoreMissingFiles && !options.ignoreCorruptFiles
  }

  /** The columns of the scan whose values are those of directories. */
  def partitionColumns(l: LogicalRelation, r: HadoopFsRelation): AttributeSet = {
    val same = l.conf.resolver
    AttributeSet(l.output.filter(a => r.partitionSchema.fieldNames.exists(same(_, a.name))))
  }
}

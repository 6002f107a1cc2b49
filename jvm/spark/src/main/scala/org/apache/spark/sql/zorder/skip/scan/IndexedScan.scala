package org.apache.spark.sql.zorder.skip.scan

import org.apache.spark.sql.catalyst.FileSourceOptions
import org.apache.spark.sql.catalyst.expressions.{AttributeSet, Expression}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.zorder.expr.ColumnPath

/**
 * A scan whose files may be left out: what the rules of the index that look for scans find.
 *
 * The names of its columns are those of the relation. A statement may spell them in another case, and Spark puts that
 * right only when it plans the scan: until then a rule asks with what [[named]] gives.
 */
final class IndexedScan private (
    val relation: LogicalRelation,
    val files: HadoopFsRelation,
    val index: SkippingFileIndex) {

  /** The same expression with the names that the scan gives its columns. */
  def named(e: Expression): Expression = ColumnPath.asDeclared(e, relation.output)

  /** Whether a file that is listed is also read, or the query fails: only then may rows be counted on. */
  def readsAllListed: Boolean = {
    val options = new FileSourceOptions(files.options)
    files.bucketSpec.isEmpty && !options.ignoreMissingFiles && !options.ignoreCorruptFiles
  }

  /** The columns whose values are those of directories. */
  def partitionColumns: AttributeSet = {
    val same = relation.conf.resolver
    AttributeSet(relation.output.filter(a => files.partitionSchema.fieldNames.exists(same(_, a.name))))
  }
}

object IndexedScan {
  def unapply(plan: LogicalPlan): Option[IndexedScan] =
    plan match {
      case l: LogicalRelation => l.relation match {
          case r: HadoopFsRelation => r.location match {
              case s: SkippingFileIndex => Some(new IndexedScan(l, r, s))
              case _ => None
            }
          case _ => None
        }
      case _ => None
    }

  def is(plan: LogicalPlan): Boolean = unapply(plan).isDefined

  /** Those of a plan. */
  def all(plan: LogicalPlan): Seq[IndexedScan] = plan.collect { case IndexedScan(scan) => scan }
}

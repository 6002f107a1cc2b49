package org.apache.spark.sql.zorder.skipping.scan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.{SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.zorder.conf.SessionKeys

/**
 * Narrows scans of DataSource V2 when they are planned, and leaves the rest to Spark's own strategy. This is the first
 * place where a scan has all of its filters, and the last before its tasks are asked for. Adaptive execution comes here
 * again with the filters that it has added.
 *
 * The logical plan keeps the whole scan: adaptive execution finds the nodes of a running stage by identity, and plans
 * the same scan with other filters later.
 */
object PlannedScanStrategy extends SparkStrategy {

  /**
   * What a scan's format has answered.
   *
   * @param filters
   *   canonical: adaptive execution asks the same again after every stage
   */
  final private case class Answer(filters: Seq[Expression], scan: Option[Scan])

  /** On the relation of the logical plan. */
  private val Answered = TreeNodeTag[Answer]("spark_zorder_narrowed_scan")

  /** On the relation that has the narrowed scan: Spark plans it, and we are not asked again. */
  private val Done = TreeNodeTag[Boolean]("spark_zorder_narrowed")

  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case PhysicalOperation(_, filters, r: DataSourceV2ScanRelation)
        if r.getTagValue(Done).isEmpty && ScansOfFormats.carriedBy(r.scan).isDefined &&
          SessionKeys.SkippingEnabled.orDefault(plan.conf) =>
      narrowed(r, filters).toSeq.map { scan =>
        val fewer = r.copy(scan = scan)
        fewer.setTagValue(Done, true)
        // filters and projections as they are: Spark puts them together again
        planLater(plan.transform { case whole: DataSourceV2ScanRelation if whole eq r => fewer })
      }
    case _ => Nil
  }

  private def narrowed(r: DataSourceV2ScanRelation, filters: Seq[Expression]): Option[Scan] = {
    val canonical = filters.map(_.canonicalized)
    r.getTagValue(Answered).filter(_.filters == canonical).getOrElse {
      val answer = Answer(canonical, ScansOfFormats.narrowed(r, filters))
      r.setTagValue(Answered, answer)
      answer
    }.scan
  }
}

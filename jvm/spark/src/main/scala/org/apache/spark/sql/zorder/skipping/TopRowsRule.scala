package org.apache.spark.sql.zorder.skipping

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.execution.datasources.LogicalRelation
import org.apache.spark.sql.zorder.skipping.predicate.{AlwaysTrue, TopRows}
import org.apache.spark.sql.zorder.skipping.scan.PruningScan
import org.apache.spark.sql.zorder.skipping.scan.PlanParts._

/**
 * Tells the scan below `ORDER BY c LIMIT k` of the order and of how many rows are needed. Between the sort
 * and the scan there may be filters and projections only, for these keep the rows and their number known; the
 * first sort key must be a column of the scan.
 */
object TopRowsRule extends PredicateHelper {

  /** Marks the scan below a limit. The rules for the plans inside come first. */
  val marks: PartialFunction[LogicalPlan, LogicalPlan] = {
    case l @ GlobalLimit(IntegerLiteral(rows), child) =>
      limited(child, rows.toLong).fold[LogicalPlan](l)(c => l.withNewChildren(Seq(c)))
  }

  /** Down to the sort: the answer is made of its first `rows` rows. */
  private def limited(plan: LogicalPlan, rows: Long): Option[LogicalPlan] = plan match {
    case _: LocalLimit | _: Project => below(plan)(limited(_, rows))
    case Offset(IntegerLiteral(skipped), _) => below(plan)(limited(_, rows + skipped))
    case s: Sort if s.global =>
      s.order.headOption.flatMap { order =>
        order.child match {
          case a: AttributeReference => below(s)(marked(_, order, a, rows, Nil, Nil))
          case _ => None
        }
      }
    case _ => None
  }

  /**
   * Down to the scan.
   *
   * @param above
   *   conditions of filters above a projection, in terms of what `plan` gives
   * @param conditions
   *   of the filters below it
   */
  private def marked(
      plan: LogicalPlan,
      order: SortOrder,
      column: AttributeReference,
      rows: Long,
      above: Seq[Expression],
      conditions: Seq[Expression]): Option[LogicalPlan] = plan match {
    case p: Project =>
      inside(p, column) match {
        case a: AttributeReference =>
          below(p)(marked(_, order, a, rows, (above ++ conditions).map(inside(p, _)), Nil))
        case _ => None
      }
    case Filter(condition, _) =>
      val parts = splitConjunctivePredicates(condition)
      if (parts.exists(_.isInstanceOf[TopRows])) None
      else
        below(plan)(
          marked(_, order, column, rows, above, conditions ++ parts.filterNot(_.isInstanceOf[AlwaysTrue])))
          .map(nextToScan)
    case PruningScan(scan) if scan.readsAllListed && (above ++ conditions).forall(appliedByScan) =>
      val partitioning = scan.partitionColumns
      // a condition on partition columns alone is applied to the listing, in full, unless a projection keeps
      // it from the scan: Spark moves no filter below `input_file_name()` or `rand()`
      val onRows =
        above ++ conditions.filterNot(c => c.references.nonEmpty && c.references.subsetOf(partitioning))
      val top = TopRows(order, scan.named(column), rows, onRows.map(scan.named))
      // Spark would not show the scan a predicate on a partition column
      if (top.references.exists(partitioning.contains)) None else Some(Filter(top, plan))
    case _ => None
  }

  /**
   * Spark shows a scan of DataSource V2 the filter next to it and no other: one of our own there would keep
   * the query's filters from the format. A file source is shown all of them.
   */
  private def nextToScan(plan: LogicalPlan): LogicalPlan = plan match {
    case Filter(condition, Filter(top: TopRows, leaf: LeafNode)) if !leaf.isInstanceOf[LogicalRelation] =>
      Filter(And(condition, top), leaf)
    case other => other
  }
}

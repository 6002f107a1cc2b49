package org.apache.spark.sql.zorder.skip.scan

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LogicalPlan, Project}

/** What the rules that walk down to a scan have in common. */
object PlanParts {

  /** What the columns that a projection computes or renames stand for. */
  def meanings(p: Project): AttributeMap[Expression] =
    AttributeMap(p.projectList.collect { case a: Alias => a.toAttribute -> a.child })

  /** Whether a scan applies the condition as it stands. */
  def settled(condition: Expression): Boolean = condition.deterministic && !condition.exists {
    case _: SubqueryExpression | _: DynamicPruning => true
    case _ => false
  }

  /** The plan with its only child changed. */
  def below(plan: LogicalPlan)(change: LogicalPlan => Option[LogicalPlan]): Option[LogicalPlan] =
    change(plan.children.head).map(c => plan.withNewChildren(Seq(c)))
}

package org.apache.spark.sql.zorder.skip.join

import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeReference, Expression, PredicateHelper}
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.AlwaysTrue
import org.apache.spark.sql.zorder.skip.marker.{JoinKeys, KeySet}
import org.apache.spark.sql.zorder.skip.scan.{IndexedScan, SkippingFileIndex}
import org.apache.spark.sql.zorder.skip.scan.PlanParts._

/**
 * Tells the scan on one side of a join which keys the other side has, once adaptive execution has broadcast it.
 *
 * Only inner and left semi joins leave out a row because it finds no partner. On the way down to the scan the rows
 * must stay rows of that side: a filter, a projection that keeps the column, and joins that would let a filter on
 * the column through. A scan below an exchange that runs already is behind a query stage, where this stops.
 */
object JoinKeysRule extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SessionKeys.SkippingEnabled.orDefault(conf)) plan
    else {
      val scans = IndexedScan.all(plan).map(_.index)
      if (scans.isEmpty) plan else plan.transformUp { case j: Join => informed(j, scans) }
    }

  private def informed(join: Join, scans: Seq[SkippingFileIndex]): Join = join match {
    case ExtractEquiJoinKeys(Inner | LeftSemi, leftKeys, rightKeys, _, _, left, right, _) =>
      BroadcastKeys.of(right, rightKeys) match {
        case Some(keys) => join.copy(left = told(left, leftKeys, keys, scans))
        case None if join.joinType == Inner =>
          BroadcastKeys.of(left, leftKeys).fold(join)(k =>
            join.copy(right = told(right, rightKeys, k, scans)))
        case None => join
      }
    case _ => join
  }

  private def told(
      side: LogicalPlan,
      keys: Seq[Expression],
      broadcast: BroadcastKeys,
      scans: Seq[SkippingFileIndex]): LogicalPlan =
    keys.indices.foldLeft(side) { (plan, key) =>
      keys(key) match {
        case a: AttributeReference if broadcast.has(key, a.dataType) =>
          val known = scanned(plan, a, scans, direct = true).flatMap(broadcast.of(key, _))
          known.flatMap(marked(plan, a, _)).getOrElse(plan)
        case _ => plan
      }
    }

  /** The column of a scan below that would listen; without one, the keys need not be read. */
  private def scanned(
      plan: LogicalPlan,
      a: Attribute,
      scans: Seq[SkippingFileIndex],
      direct: Boolean): Option[ScannedColumn] =
    step(plan, a) match {
      case Some((child, inside)) => scanned(child, inside, scans, direct && !plan.isInstanceOf[Join])
      case None => plan match {
          case IndexedScan(scan)
              if scan.relation.outputSet.contains(a) && !scan.partitionColumns.contains(a) &&
                // another scan of that table may share an exchange with this one, above a join further down
                (direct || scans.count(_ == scan.index) == 1) =>
            Some(scan.named(a)).collect {
              case c: Attribute if scan.index.mayAnswer(c) => ScannedColumn(c, scan.index)
            }
          case _ => None
        }
    }

  private def marked(plan: LogicalPlan, a: AttributeReference, keys: KeySet): Option[LogicalPlan] =
    step(plan, a) match {
      case Some((child, inside: AttributeReference)) =>
        if (isTold(plan, a, keys)) None
        else marked(child, inside, keys).map { c =>
          plan.withNewChildren(plan.children.map(old => if (old eq child) c else old))
        }
      case _ => Some(Filter(JoinKeys(AlwaysTrue.signed(a), keys), plan))
    }

  private def isTold(plan: LogicalPlan, a: Attribute, keys: KeySet): Boolean = plan match {
    case Filter(condition, _) => splitConjunctivePredicates(condition).exists {
        case k: JoinKeys => k.column.semanticEquals(a) && k.keys == keys
        case _ => false
      }
    case _ => false
  }

  /** The child that the column comes from, and its name there; None where the way ends. */
  private def step(plan: LogicalPlan, a: Attribute): Option[(LogicalPlan, Attribute)] = plan match {
    case p: Project if p.projectList.forall(_.deterministic) =>
      meanings(p).getOrElse(a, a) match {
        case inside: Attribute => Some(p.child -> inside)
        case _ => None
      }
    case Filter(condition, child) if condition.deterministic => Some(child -> a)
    case j: Join =>
      j.joinType match {
        case Inner if j.right.outputSet.contains(a) => Some(j.right -> a)
        case Inner | LeftSemi | LeftAnti | LeftOuter | ExistenceJoin(_) if j.left.outputSet.contains(a) =>
          Some(j.left -> a)
        case RightOuter if j.right.outputSet.contains(a) => Some(j.right -> a)
        case _ => None
      }
    case _ => None
  }
}

package org.apache.spark.sql.zorder.skipping.join

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.adaptive.LogicalQueryStage
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.skipping.predicate.{AlwaysTrue, JoinKeys, KeySet}
import org.apache.spark.sql.zorder.skipping.scan.{PrunedFiles, PruningScan}
import org.apache.spark.sql.zorder.skipping.scan.PlanParts._

/**
 * Tells the scan on one side of a join which keys the other side has, once adaptive execution has broadcast
 * it.
 *
 * Only inner and left semi joins leave out a row because it finds no partner. On the way down to the scan the
 * rows must stay rows of that side: a filter, a projection that keeps the column, and joins that would let a
 * filter on the column through; of a union, the rows of each part. A scan below an exchange that runs already
 * is behind a query stage, where this stops.
 *
 * The way may also end at another dimension that is broadcast: of `fact JOIN d1 JOIN d2 ON d1.r = d2.r`, the
 * fact table needs only the keys of those rows of `d1` whose `r` is a key of `d2`.
 */
object JoinKeysRule extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SessionKeys.SkippingEnabled.orDefault(conf)) plan
    else {
      val scans = PruningScan.all(plan).map(_.files)
      if (scans.isEmpty) plan else plan.transformUp { case j: Join => informed(j, scans) }
    }

  private def informed(join: Join, scans: Seq[PrunedFiles]): Join = join match {
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
      scans: Seq[PrunedFiles],
      direct: Boolean = true): LogicalPlan =
    keys.indices.foldLeft(side) { (plan, key) => told(plan, keys(key), key, broadcast, scans, direct) }

  /**
   * The plan in which the scan of one key's column has been told the keys, or the scans of the parts of a
   * union.
   */
  private def told(
      plan: LogicalPlan,
      of: Expression,
      key: Int,
      broadcast: BroadcastKeys,
      scans: Seq[PrunedFiles],
      direct: Boolean): LogicalPlan = of match {
    case a: AttributeReference if broadcast.has(key, a.dataType) =>
      inParts(plan, a)(told(_, _, key, broadcast, scans, direct)).getOrElse(
        scanned(plan, a, scans, direct)
          .map(column => broadcast.of(key, column).flatMap(marked(plan, a, _)))
          .getOrElse(chained(plan, a, broadcast.listed(key), scans))
          .getOrElse(plan))
    case _ => plan
  }

  /**
   * Where the column comes from a union: the plan with each of its parts changed by what the column is there.
   */
  private def inParts(plan: LogicalPlan, a: Attribute)(
      change: (LogicalPlan, Attribute) => LogicalPlan): Option[LogicalPlan] = plan match {
    case union: Union =>
      val place = union.output.indexWhere(_.exprId == a.exprId)
      if (place < 0) None
      else Some(union.withNewChildren(union.children.map(c => change(c, c.output(place)))))
    case _ =>
      step(plan, a).flatMap { case (child, inside) =>
        inParts(child, inside)(change).map(withChild(plan, child, _))
      }
  }

  /**
   * The plan in which the scan beside the dimension that the column is of has been told which of its rows are
   * left.
   */
  private def chained(
      plan: LogicalPlan,
      a: Attribute,
      broadcast: => Option[Set[Any]],
      scans: Seq[PrunedFiles]): Option[LogicalPlan] = plan match {
    case j @ ExtractEquiJoinKeys(Inner, leftKeys, rightKeys, _, _, left, right, _)
        if isStage(left, a) || isStage(right, a) =>
      val ofRight = isStage(right, a)
      val (dimension, ownKeys) = if (ofRight) (right, rightKeys) else (left, leftKeys)
      val (side, keys) = if (ofRight) (left, leftKeys) else (right, rightKeys)
      for {
        all <- BroadcastKeys.of(dimension, ownKeys)
        // without a scan that can use them, nothing is read
        if keys.exists {
          case k: AttributeReference => mayBeTold(side, k, scans)
          case _ => false
        }
        values <- broadcast
        some <- all.only(a, values)
        changed = told(side, keys, some, scans, direct = false)
        if changed ne side
      } yield if (ofRight) j.copy(left = changed) else j.copy(right = changed)
    case _ => step(plan, a).flatMap { case (child, inside) =>
        chained(child, inside, broadcast, scans).map(withChild(plan, child, _))
      }
  }

  private def isStage(plan: LogicalPlan, a: Attribute): Boolean = plan match {
    case s: LogicalQueryStage => s.outputSet.contains(a)
    case _ => false
  }

  /** Whether the column is that of a scan which could use keys of it, or of a further dimension. */
  private def mayBeTold(plan: LogicalPlan, a: Attribute, scans: Seq[PrunedFiles]): Boolean =
    scanned(plan, a, scans, direct = false).isDefined || {
      def isOfStage(p: LogicalPlan, c: Attribute): Boolean =
        isStage(p, c) || step(p, c).exists { case (child, inside) => isOfStage(child, inside) }
      isOfStage(plan, a)
    }

  /** The column of a scan below that can use the keys; without one, the keys need not be read. */
  private def scanned(
      plan: LogicalPlan,
      a: Attribute,
      scans: Seq[PrunedFiles],
      direct: Boolean): Option[ScannedColumn] =
    step(plan, a) match {
      case Some((child, inside)) => scanned(child, inside, scans, direct && !plan.isInstanceOf[Join])
      case None => plan match {
          case PruningScan(scan)
              if scan.hasInFiles(a) &&
                // another scan of that table may share an exchange with this one, above a join further down
                (direct || scans.count(_ == scan.files) == 1) =>
            Some(scan.named(a)).collect {
              case c: Attribute if scan.files.mayAnswer(c) => ScannedColumn(c, scan.files)
            }
          case _ => None
        }
    }

  private def marked(plan: LogicalPlan, a: AttributeReference, keys: KeySet): Option[LogicalPlan] =
    step(plan, a) match {
      case Some((child, inside: AttributeReference)) =>
        if (isTold(plan, a, keys)) None
        else marked(child, inside, keys).map(withChild(plan, child, _))
      case _ => Some(Filter(JoinKeys(AlwaysTrue.signed(a), keys), plan))
    }

  private def withChild(plan: LogicalPlan, child: LogicalPlan, changed: LogicalPlan): LogicalPlan =
    plan.withNewChildren(plan.children.map(old => if (old eq child) changed else old))

  private def isTold(plan: LogicalPlan, a: Attribute, keys: KeySet): Boolean = plan match {
    case Filter(condition, _) => splitConjunctivePredicates(condition).exists {
        case k: JoinKeys => k.column.semanticEquals(a) && k.keys == keys
        case _ => false
      }
    case _ => false
  }

  /** The child that the column comes from, and its name there; None where the way ends. */
  private[join] def step(plan: LogicalPlan, a: Attribute): Option[(LogicalPlan, Attribute)] = plan match {
    case p: Project if p.projectList.forall(_.deterministic) =>
      inside(p, a) match {
        case c: Attribute => Some(p.child -> c)
        case _ => None
      }
    case Filter(condition, child) if condition.deterministic => Some(child -> a)
    case waiting: AfterKeys => Some(waiting.left -> a)
    case j: Join =>
      isOfRight(j.joinType, j.left.outputSet, j.right.outputSet, a)
        .map(ofRight => (if (ofRight) j.right else j.left) -> a)
    case _ => None
  }

  /**
   * Whether a column of a join comes from its right side, or else from its left; None where the join may change it, or
   * would not let a filter on it through.
   */
  private[join] def isOfRight(
      joinType: JoinType,
      left: AttributeSet,
      right: AttributeSet,
      a: Attribute): Option[Boolean] = joinType match {
    case Inner | RightOuter if right.contains(a) => Some(true)
    case Inner | LeftSemi | LeftAnti | LeftOuter | ExistenceJoin(_) if left.contains(a) => Some(false)
    case _ => None
  }
}

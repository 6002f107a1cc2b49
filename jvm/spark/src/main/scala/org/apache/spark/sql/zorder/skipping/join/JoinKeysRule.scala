package org.apache.spark.sql.zorder.skipping.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans._
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.joins.{HashJoin, HashedRelationBroadcastMode}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.marker.{AlwaysTrue, JoinKeys, KeyRange, KeySet, KeyValues}
import org.apache.spark.sql.zorder.skipping.planned.ScanBelow
import org.apache.spark.sql.zorder.skipping.scan.PrunedFiles
import org.apache.spark.sql.zorder.skipping.scan.PlanParts._
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.NormalizedValue

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
      val scans = ScanBelow.all(plan).map(_.files)
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
      scans: Seq[PrunedFiles]): LogicalPlan =
    keys.indices.foldLeft(side) { (plan, key) =>
      keys(key) match {
        case a: AttributeReference if broadcast.has(key, a.dataType) =>
          val known = scanned(plan, a, scans, direct = true).flatMap(broadcast.of(key, _))
          known.flatMap(marked(plan, a, _)).getOrElse(plan)
        case _ => plan
      }
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
          case ScanBelow(scan)
              if scan.relation.outputSet.contains(a) && !scan.partitionColumns.contains(a) &&
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

/** A column of a scan that the keys of a join could tell which files to leave out. */
final private case class ScannedColumn(column: Attribute, files: PrunedFiles) {

  /** Tells it from other columns and tables. */
  def name: String = s"${files.root} ${column.name}"

  /** Whether rows with these keys are not in all files. */
  def leavesOut(keys: KeySet): Boolean = files.leavesOut(keys.test(column))
}

/**
 * The keys of a side of a join that adaptive execution has broadcast already, read on the driver, which has them.
 *
 * @param keys
 *   of the join, on that side
 */
final private class BroadcastKeys private (
    stage: BroadcastQueryStageExec,
    relation: Any,
    keys: Seq[Expression]) {

  /** Whether key number `key` has this type, and one whose values can be compared. */
  def has(key: Int, dataType: DataType): Boolean =
    keys(key).dataType == dataType && BroadcastKeys.usable(dataType)

  /**
   * The values of key number `key` for the scan of a column; None where they cannot be told, or are so many that only
   * their range could be, and it leaves out no file. The stage remembers them.
   */
  def of(key: Int, scanned: ScannedColumn): Option[KeySet] = {
    val known = stage.getTagValue(BroadcastKeys.Tag).getOrElse(Map.empty)
    val asked = (key, scanned.name)
    known.getOrElse(
      asked, {
        val found = read(key, scanned)
        stage.setTagValue(BroadcastKeys.Tag, known + (asked -> found))
        found
      })
  }

  private def read(key: Int, scanned: ScannedColumn): Option[KeySet] = {
    val dataType = keys(key).dataType
    val value: Expression =
      if (BroadcastKeys.packed(keys)) HashJoin.extractKeyExprAt(keys, key)
      else BoundReference(key, dataType, nullable = true)
    // rows are used again for the next key, so that values are copied
    val values = RelationKeys.of(relation).map(row => BroadcastKeys.copied(value.eval(row))).filter(_ != null)
    val listed = mutable.HashSet.empty[Any]
    while (values.hasNext && listed.size <= BroadcastKeys.Most) listed += values.next()
    if (listed.size <= BroadcastKeys.Most) Some(KeyValues(listed.toSet))
    else Normalization.of(dataType).flatMap { normalizedType =>
      new GrowingRange(
        dataType,
        normalizedType.normalize).of(listed.iterator ++ values, BroadcastKeys.Most, scanned.leavesOut)
    }
  }
}

private object BroadcastKeys {

  /** More keys than these become a range. */
  val Most = 10000

  private val Tag = TreeNodeTag[Map[(Int, String), Option[KeySet]]]("spark_zorder_join_keys")

  /** Spark's own relations; what an accelerator broadcasts is its own matter. */
  private val Known = Set("LongHashedRelation", "UnsafeHashedRelation", "EmptyHashedRelation$")
    .map("org.apache.spark.sql.execution.joins." + _)

  /** None for a side that is not, or not yet, broadcast by these keys. */
  def of(side: LogicalPlan, keys: Seq[Expression]): Option[BroadcastKeys] = side match {
    case s: LogicalQueryStage => s.physicalPlan match {
        case stage: BroadcastQueryStageExec if stage.isMaterialized && byKeys(stage, keys) =>
          val relation: Any = stage.broadcast.relationFuture.get().value
          if (Known(relation.getClass.getName)) Some(new BroadcastKeys(stage, relation, keys)) else None
        case _ => None
      }
    case _ => None
  }

  private def byKeys(stage: BroadcastQueryStageExec, keys: Seq[Expression]): Boolean =
    stage.broadcast.outputPartitioning match {
      case BroadcastPartitioning(mode: HashedRelationBroadcastMode) =>
        val bound = BindReferences.bindReferences(HashJoin.rewriteKeyExpr(keys), stage.plan.output)
        !mode.isNullAware && mode.key.map(_.canonicalized) == bound.map(_.canonicalized)
      case _ => false
    }

  /** Whether the relation has one number for all keys. */
  private def packed(keys: Seq[Expression]): Boolean = HashJoin.rewriteKeyExpr(keys) match {
    case Seq(one) => one.dataType == LongType
    case _ => false
  }

  /** Types whose values can be compared as they are. */
  private def usable(dataType: DataType): Boolean = dataType match {
    case BinaryType | FloatType | DoubleType => false
    case other => Normalization.of(other).isDefined
  }

  private def copied(value: Any): Any = value match {
    case s: UTF8String => s.clone()
    case other => other
  }
}

/**
 * The range of keys that are too many to be listed.
 *
 * @param normalize
 *   the normalized value of a value: these are in the order of values
 */
final private[join] class GrowingRange(dataType: DataType, normalize: Any => NormalizedValue) {

  /**
   * The range from the least to the greatest value. A range only grows: once the range of some values skips no file,
   * the other values, which may be millions, are not read. `helps` is asked after `first` values, and whenever their
   * number has doubled.
   *
   * @param values
   *   at least one, none NULL
   */
  def of(values: Iterator[Any], first: Int, helps: KeyRange => Boolean): Option[KeyRange] = {
    var low = values.next()
    var high = low
    var (normalizedLow, normalizedHigh) = (normalize(low), normalize(high))
    def range: KeyRange = KeyRange(Literal(low, dataType), Literal(high, dataType))
    var read = 1L
    var nextQuestion = first.toLong
    var helping = true
    while (helping && values.hasNext) {
      val value = values.next()
      val w = normalize(value)
      if (w < normalizedLow) {
        low = value
        normalizedLow = w
      } else if (w > normalizedHigh) {
        high = value
        normalizedHigh = w
      }
      read += 1
      if (read >= nextQuestion) {
        helping = helps(range)
        nextQuestion *= 2
      }
    }
    if (helping && helps(range)) Some(range) else None
  }
}

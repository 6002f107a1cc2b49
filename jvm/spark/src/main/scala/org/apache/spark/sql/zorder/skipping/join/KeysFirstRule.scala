package org.apache.spark.sql.zorder.skipping.join

import org.apache.spark.rdd.RDD
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.MultiInstanceRelation
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.planning.ExtractEquiJoinKeys
import org.apache.spark.sql.catalyst.plans.{Inner, LeftSemi}
import org.apache.spark.sql.catalyst.plans.logical._
import org.apache.spark.sql.catalyst.plans.physical._
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.execution.{BinaryExecNode, SparkPlan, SparkStrategy}
import org.apache.spark.sql.execution.adaptive.{LogicalQueryStage, ShuffleQueryStageExec}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.skipping.predicate.AlwaysTrue
import org.apache.spark.sql.zorder.skipping.scan.{PlanParts, PruningScan}

/**
 * Lets a very large table wait for the filtered table that it is joined with by a shuffle ([[AfterKeys]]).
 * Adaptive execution begins all scans at once, and learns too late that few rows of a table are left. If the
 * large table waits, Spark broadcasts these rows, shuffles the large table no more, and [[JoinKeysRule]]
 * leaves out its files.
 *
 * The wait must not be felt where it is in vain, so that the large table has at least
 * [[KeysFirstRule.Rounds]] times what the cluster reads at once, by the least that its filters leave and the
 * columns that are read, and the tables that it waits for have together no more than the cluster reads at
 * once. The filter must be one on a table, and Spark must not broadcast it anyway. A large table waits for
 * nothing if another join may leave out files of it, by a table that is broadcast.
 *
 * It comes before cost-based optimisation, when filters stand above scans and no scan of DataSource V2 is
 * made yet.
 */
final case class KeysFirstRule(session: SparkSession) extends Rule[LogicalPlan] with PredicateHelper {

  override def apply(plan: LogicalPlan): LogicalPlan =
    // it may come to a plan again
    if (!isPossible || plan.isStreaming || plan.exists(p => p.isInstanceOf[AfterKeys])) plan
    else {
      val query = new OneQuery(plan)
      if (query.scans.isEmpty) plan
      else plan.transformUp { case j: Join => query.waiting(j).getOrElse(j) }
    }

  private def isPossible: Boolean =
    SessionKeys.SkippingEnabled.orDefault(
      conf) && conf.adaptiveExecutionEnabled && conf.exchangeReuseEnabled &&
      KeysFirstRule.mostBroadcast(conf) > 0

  /** What the cluster reads at once, in bytes. */
  private def round: Long = {
    val spark = session.sparkContext.getConf
    // the number of cores may be no more than those that an idle application has kept
    val cores =
      if (!spark.getBoolean("spark.dynamicAllocation.enabled", defaultValue = false))
        session.sparkContext.defaultParallelism.toLong
      else
        spark.getLong("spark.dynamicAllocation.maxExecutors", Int.MaxValue.toLong) *
          spark.getLong("spark.executor.cores", 1L)
    // more than any table has, and small enough that a product of it does not overflow
    math.min(cores.toDouble * conf.filesMaxPartitionBytes, 1e15).toLong
  }

  private class OneQuery(plan: LogicalPlan) {
    val scans: Seq[PruningScan] = PruningScan.all(plan)
    private lazy val leaves = plan.collectLeaves()
    private lazy val joins = plan.collect { case j: Join => j }
    private lazy val atOnce = round
    private var room = atOnce

    def waiting(join: Join): Option[Join] = join match {
      case ExtractEquiJoinKeys(Inner | LeftSemi, leftKeys, rightKeys, _, _, left, right, JoinHint.NONE) =>
        waiting(left, leftKeys, right, rightKeys).map(l => join.copy(left = l)).orElse {
          if (join.joinType == Inner) waiting(right, rightKeys, left, leftKeys).map(r => join.copy(right = r))
          else None
        }
      case _ => None
    }

    private def waiting(
        side: LogicalPlan,
        keys: Seq[Expression],
        other: LogicalPlan,
        otherKeys: Seq[Expression]): Option[LogicalPlan] = {
      val attributes = otherKeys.collect { case a: AttributeReference => a }
      val bytes = if (attributes.length == otherKeys.length) filtered(other) else None
      val isWorth = bytes.exists(_ <= room) && keys.zip(otherKeys).exists {
        case (a: AttributeReference, k) =>
          a.dataType == k.dataType && BroadcastKeys.usable(a.dataType) && isLarge(side, a, other)
        case _ => false
      }
      if (!isWorth) None
      else {
        room -= bytes.get
        val copy = other.transformUpWithNewOutput { case r: LogicalPlan with MultiInstanceRelation =>
          val again = r.newInstance()
          again -> r.output.zip(again.output)
        }
        val now = AttributeMap(other.output.zip(copy.output))
        Some(AfterKeys(side, copy, attributes.map(now(_)), copy.output))
      }
    }

    /**
     * Whether the side of a join is a scan that is large enough and may use keys of its column. It may be no
     * other join: the scan would be shuffled for that one, and could begin before the keys are broadcast.
     */
    private def isLarge(side: LogicalPlan, a: Attribute, other: LogicalPlan): Boolean =
      scanOf(side, a).exists { case (scan, column, filters) =>
        def bytes: Double = scan.files.leastBytes(filters.map(scan.named)) * shareRead(side, scan)
        val enough = KeysFirstRule.Rounds * atOnce
        isShuffled(scan.relation) && isOnce(scan.relation) && scan.files.sizeInBytes >= enough &&
        !joins.exists(mayLeaveOut(_, scan.relation, other)) && (scan.named(column) match {
          case c: Attribute => scan.files.mayAnswer(c) && bytes >= enough
          case _ => false
        })
      }

    /** What is scanned twice may share an exchange. */
    private def isOnce(leaf: LeafNode): Boolean = leaves.count(_.sameResult(leaf)) == 1

    /** About the part of a row that is read of a scan below filters and projections. */
    private def shareRead(plan: LogicalPlan, scan: PruningScan): Double = {
      def width(columns: Iterable[Attribute]): Double = columns.map(_.dataType.defaultSize.toDouble).sum
      val all = scan.relation.output
      if (!plan.exists(_.isInstanceOf[Project])) 1.0
      else width(all.filter(AttributeSet(plan.collect { case p: UnaryNode =>
        p.references
      }.flatten).contains)) / width(all)
    }

    /** Whether a join with something else than `other` may leave out files of a scan. */
    private def mayLeaveOut(join: Join, scan: LeafNode, other: LogicalPlan): Boolean =
      Seq(join.left -> join.right, join.right -> join.left).exists { case (side, beside) =>
        def mayBeBroadcast: Boolean = join.hint != JoinHint.NONE || filtered(beside).isEmpty &&
          (isBroadcast(beside) || beside.exists(_.isInstanceOf[DataSourceV2Relation]))
        (beside ne other) && side.exists(_ eq scan) && mayBeBroadcast
      }

    /**
     * The scan that is the whole plan but for filters and projections, with what the column is there; and its
     * filters.
     */
    private def scanOf(plan: LogicalPlan, a: Attribute): Option[(PruningScan, Attribute, Seq[Expression])] =
      plan match {
        case Filter(condition, child) if PlanParts.appliedByScan(condition) =>
          val conjuncts = splitConjunctivePredicates(condition)
          scanOf(child, a).collect {
            case (scan, c, filters) if condition.references.subsetOf(scan.relation.outputSet) =>
              (scan, c, filters ++ conjuncts)
          }
        case p: Project => JoinKeysRule.step(p, a).flatMap { case (child, inside) => scanOf(child, inside) }
        case PruningScan(scan) if scan.hasInFiles(a) => Some((scan, a, Nil))
        case _ => None
      }

    /** The bytes of a table behind a filter; None for one that Spark broadcasts, and for all other plans. */
    private def filtered(plan: LogicalPlan, selective: Boolean = false): Option[Long] = plan match {
      case Filter(condition, child) if PlanParts.appliedByScan(condition) =>
        filtered(
          child,
          selective || splitConjunctivePredicates(condition).exists {
            case _: IsNotNull | _: AlwaysTrue => false
            case _ => true
          }).filter(_ => !isBroadcast(plan))
      case Project(columns, child) if columns.forall(_.isInstanceOf[AttributeReference]) =>
        filtered(child, selective).filter(_ => !isBroadcast(plan))
      case leaf: LeafNode if selective && isShuffled(leaf) && isOnce(leaf) =>
        bytesOf(leaf).filter(_ > conf.autoBroadcastJoinThreshold)
      case _ => None
    }

    /** Whether Spark broadcasts the plan. It cannot say so of DataSource V2 before the scan is made. */
    private def isBroadcast(plan: LogicalPlan): Boolean =
      !plan.exists(_.isInstanceOf[DataSourceV2Relation]) &&
        plan.stats.sizeInBytes <= conf.autoBroadcastJoinThreshold

    private def bytesOf(leaf: LeafNode): Option[Long] = leaf match {
      case l: LogicalRelation => Some(l.relation.sizeInBytes)
      case PruningScan(scan) => Some(scan.files.sizeInBytes)
      case _ => None
    }

    /** Whether a join must shuffle the table, whatever its keys. */
    private def isShuffled(leaf: LeafNode): Boolean = leaf match {
      case l: LogicalRelation => l.relation match {
          case r: HadoopFsRelation => r.bucketSpec.isEmpty
          case _ => false
        }
      // the adapters tell nothing of scans whose groups a join may use
      case _ => true
    }
  }
}

object KeysFirstRule {

  /** One of so many rounds of reading is a twentieth of the time, if the wait is in vain. */
  val Rounds = 20L

  /** The most bytes of a table that Spark broadcasts once its shuffle has shown its size. */
  def mostBroadcast(conf: SQLConf): Long =
    conf.getConf(SQLConf.ADAPTIVE_AUTO_BROADCASTJOIN_THRESHOLD).getOrElse(conf.autoBroadcastJoinThreshold)
}

/**
 * In adaptive execution: ends the wait once the rows that a scan waits for have been shuffled. If these are
 * few, the join is told to broadcast them. Spark would shuffle both sides where most partitions are empty,
 * since it takes for granted that the shuffle of the other side is paid already.
 */
object KeysFirstEnds extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan = {
    val there = plan.collect { case AfterKeys(_, Shuffled(stage), _, _) => stage }
    if (there.isEmpty) plan
    else plan.transformUp {
      case AfterKeys(left, Shuffled(_), _, _) => left
      case j: Join => broadcasting(j, there)
    }
  }

  private def broadcasting(join: Join, there: Seq[ShuffleQueryStageExec]): Join = {
    def isSmall(side: LogicalPlan): Boolean = side match {
      case Shuffled(stage) => there.exists(_.shuffle eq stage.shuffle) &&
        side.stats.sizeInBytes <= KeysFirstRule.mostBroadcast(conf)
      case _ => false
    }
    val broadcast = Some(HintInfo(strategy = Some(BROADCAST)))
    join.joinType match {
      case Inner | LeftSemi if isSmall(join.right) => join.copy(hint = JoinHint(None, broadcast))
      case Inner if isSmall(join.left) => join.copy(hint = JoinHint(broadcast, None))
      case _ => join
    }
  }

  private object Shuffled {
    def unapply(plan: LogicalPlan): Option[ShuffleQueryStageExec] = plan match {
      case s: LogicalQueryStage => s.physicalPlan match {
          case stage: ShuffleQueryStageExec if stage.isMaterialized => Some(stage)
          case _ => None
        }
      case _ => None
    }
  }
}

/**
 * The rows of `left`, which adaptive execution begins to read only when `right` has been shuffled: it runs
 * what is below an exchange when all stages below have ended. It needs no row of `right`. Its shuffle is that
 * of a join further up, which Spark runs once for both.
 *
 * @param keys
 *   that `right` is shuffled by
 * @param kept
 *   the columns of `right`: all of them, or it would be another shuffle
 */
final case class AfterKeys(left: LogicalPlan, right: LogicalPlan, keys: Seq[Attribute], kept: Seq[Attribute])
    extends BinaryNode {
  override def output: Seq[Attribute] = left.output
  override def maxRows: Option[Long] = left.maxRows
  override def stats: Statistics = left.stats

  override protected def withNewChildrenInternal(newLeft: LogicalPlan, newRight: LogicalPlan): AfterKeys =
    copy(left = newLeft, right = newRight)
}

/** See [[AfterKeys]]. Spark puts the exchange above `right`; it is never asked for its rows. */
final case class AfterKeysExec(left: SparkPlan, right: SparkPlan, keys: Seq[Expression])
    extends BinaryExecNode {
  override def output: Seq[Attribute] = left.output
  override def outputPartitioning: Partitioning = left.outputPartitioning
  override def outputOrdering: Seq[SortOrder] = left.outputOrdering
  override def requiredChildDistribution: Seq[Distribution] =
    Seq(UnspecifiedDistribution, ClusteredDistribution(keys))

  override protected def doExecute(): RDD[InternalRow] = left.execute()

  override protected def withNewChildrenInternal(newLeft: SparkPlan, newRight: SparkPlan): AfterKeysExec =
    copy(left = newLeft, right = newRight)
}

object AfterKeysStrategy extends SparkStrategy {
  override def apply(plan: LogicalPlan): Seq[SparkPlan] = plan match {
    case AfterKeys(left, right, keys, _) => Seq(AfterKeysExec(planLater(left), planLater(right), keys))
    case _ => Nil
  }
}

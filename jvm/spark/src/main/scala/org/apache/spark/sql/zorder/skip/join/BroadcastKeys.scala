package org.apache.spark.sql.zorder.skip.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.joins.{HashedRelationBroadcastMode, HashJoin}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.sql.zorder.skip.marker.{KeySet, KeyValues}
import org.apache.spark.unsafe.types.UTF8String

/**
 * The keys of a side of a join that adaptive execution has broadcast already, read on the driver, which has them.
 *
 * @param keys
 *   of the join, on that side
 */
final private[join] class BroadcastKeys private (
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
    else WordTypes.of(dataType).flatMap { words =>
      new GrowingRange(
        dataType,
        words.word).of(listed.iterator ++ values, BroadcastKeys.Most, scanned.leavesOut)
    }
  }
}

private[join] object BroadcastKeys {

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
    case other => WordTypes.of(other).isDefined
  }

  private def copied(value: Any): Any = value match {
    case s: UTF8String => s.clone()
    case other => other
  }
}

package org.apache.spark.sql.zorder.skipping.join

import scala.collection.mutable

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.plans.physical.BroadcastPartitioning
import org.apache.spark.sql.catalyst.trees.TreeNodeTag
import org.apache.spark.sql.execution.adaptive.{BroadcastQueryStageExec, LogicalQueryStage}
import org.apache.spark.sql.execution.joins.{HashJoin, HashedRelationBroadcastMode}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.sql.zorder.skipping.predicate.{KeyRange, KeySet, KeyValues}
import org.apache.spark.sql.zorder.skipping.scan.PrunedFiles
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.NormalizedValue

/** A column of a scan that the keys of a join could tell which files to leave out. */
final private[join] case class ScannedColumn(column: Attribute, files: PrunedFiles) {

  /** Tells it from other columns and tables. */
  def name: String = s"${files.root} ${column.name}"

  /** Whether rows with these keys are not in all files. */
  def leavesOut(keys: KeySet): Boolean = files.leavesOut(keys.test(column))
}

/**
 * The keys of a side of a join that adaptive execution has broadcast already, read on the driver, which has
 * them.
 *
 * @param keys
 *   of the join, on that side
 * @param restriction
 *   a column of that side, and the values that it has in the rows that count; None: all rows count
 */
final private[join] class BroadcastKeys private (
    stage: BroadcastQueryStageExec,
    relation: Any,
    keys: Seq[Expression],
    restriction: Option[(Int, Set[Any])] = None) {

  /** Whether key number `key` has this type, and one whose values can be compared. */
  def has(key: Int, dataType: DataType): Boolean =
    keys(key).dataType == dataType && BroadcastKeys.usable(dataType)

  /** The keys of those rows alone whose column `a` has one of the values. */
  def only(a: Attribute, values: Set[Any]): Option[BroadcastKeys] = {
    val column = stage.output.indexWhere(_.exprId == a.exprId)
    if (column < 0) None else Some(new BroadcastKeys(stage, relation, keys, Some(column -> values)))
  }

  /** All values of key number `key`; None if they are too many. */
  def listed(key: Int): Option[Set[Any]] =
    values(key).map(BroadcastKeys.first).filter(_.size <= BroadcastKeys.Most)

  /**
   * The values of key number `key` for the scan of a column; None where they cannot be told, or are so many
   * that only their range could be, and it leaves out no file. The stage remembers them.
   */
  def of(key: Int, scanned: ScannedColumn): Option[KeySet] = {
    val known = stage.getTagValue(BroadcastKeys.Tag).getOrElse(Map.empty)
    val asked = (key, scanned.name, restriction)
    known.getOrElse(
      asked, {
        val found = read(key, scanned)
        stage.setTagValue(BroadcastKeys.Tag, known + (asked -> found))
        found
      })
  }

  private def read(key: Int, scanned: ScannedColumn): Option[KeySet] = values(key).flatMap { all =>
    val dataType = keys(key).dataType
    val listed = BroadcastKeys.first(all)
    if (listed.size <= BroadcastKeys.Most) Some(KeyValues(listed))
    else Normalization.of(dataType).flatMap { normalizedType =>
      new GrowingRange(
        dataType,
        normalizedType.normalize).of(listed.iterator ++ all, BroadcastKeys.Most, scanned.leavesOut)
    }
  }

  /** The values of a key, none of them NULL; None if there are too many rows to look at each. */
  private def values(key: Int): Option[Iterator[Any]] = {
    val found = restriction match {
      case None =>
        val value: Expression =
          if (BroadcastKeys.packed(keys)) HashJoin.extractKeyExprAt(keys, key)
          else BoundReference(key, keys(key).dataType, nullable = true)
        Some(RelationKeys.of(relation).map(value.eval(_)))
      case Some((column, allowed)) => rows.map { all =>
          val value = BindReferences.bindReference(keys(key), AttributeSeq(stage.output))
          val test = stage.output(column).dataType
          all.filter(row => !row.isNullAt(column) && allowed.contains(row.get(column, test)))
            .map(value.eval(_))
        }
    }
    // rows are used again for the next key, so that values are copied
    found.map(_.map(BroadcastKeys.copied).filter(_ != null))
  }

  private def rows: Option[Iterator[InternalRow]] = {
    def all: Iterator[InternalRow] = {
      val copy = RelationKeys.copy(relation)
      distinctKeys.flatMap(key => Option(RelationKeys.rows(copy, key)).getOrElse(Iterator.empty))
    }
    if (all.take(BroadcastKeys.MostRows + 1).size > BroadcastKeys.MostRows) None else Some(all)
  }

  /** A relation may give a key once for each of its rows. */
  private def distinctKeys: Iterator[InternalRow] =
    if (RelationKeys.areUnique(relation)) RelationKeys.of(relation)
    else {
      val seen = mutable.HashSet.empty[InternalRow]
      RelationKeys.of(relation).filter(key => !seen(key) && seen.add(key.copy()))
    }
}

private[join] object BroadcastKeys {

  /** More keys than these become a range. */
  val Most = 10000

  /** With more rows, those that count are not looked for. */
  val MostRows = 1000000

  private type Asked = (Int, String, Option[(Int, Set[Any])])

  private val Tag = TreeNodeTag[Map[Asked, Option[KeySet]]]("spark_zorder_join_keys")

  /** Spark's own relations; what an accelerator broadcasts is its own matter. */
  private val Known = Set("LongHashedRelation", "UnsafeHashedRelation", "EmptyHashedRelation$")
    .map("org.apache.spark.sql.execution.joins." + _)

  /** None for a side that is not, or not yet, broadcast by these keys. */
  def of(side: LogicalPlan, keys: Seq[Expression]): Option[BroadcastKeys] = side match {
    case s: LogicalQueryStage => s.physicalPlan match {
        case stage: BroadcastQueryStageExec => of(stage, keys)
        case _ => None
      }
    case _ => None
  }

  def of(stage: BroadcastQueryStageExec, keys: Seq[Expression]): Option[BroadcastKeys] =
    if (!stage.isMaterialized || !byKeys(stage, keys)) None
    else {
      val relation: Any = stage.broadcast.relationFuture.get().value
      if (Known(relation.getClass.getName)) Some(new BroadcastKeys(stage, relation, keys)) else None
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
  def usable(dataType: DataType): Boolean = dataType match {
    case BinaryType | FloatType | DoubleType => false
    case other => Normalization.of(other).isDefined
  }

  /** Values until there are more than can be listed. */
  private def first(all: Iterator[Any]): Set[Any] = {
    val found = mutable.HashSet.empty[Any]
    while (all.hasNext && found.size <= Most) found += all.next()
    found.toSet
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
   * The range from the least to the greatest value. A range only grows: once the range of some values skips
   * no file, the other values, which may be millions, are not read. `helps` is asked after `first` values,
   * and whenever their number has doubled.
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

package org.apache.spark.sql.zorder.skipping.join

import scala.annotation.tailrec

import org.apache.spark.sql.catalyst.expressions.{
  Alias,
  Attribute,
  AttributeReference,
  ExprId,
  IsNotNull,
  PredicateHelper
}
import org.apache.spark.sql.catalyst.optimizer.{BuildLeft, BuildRight}
import org.apache.spark.sql.catalyst.plans.{Inner, LeftSemi}
import org.apache.spark.sql.execution._
import org.apache.spark.sql.execution.adaptive.{
  AdaptiveSparkPlanHelper,
  BroadcastQueryStageExec,
  QueryStageExec
}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanExecBase
import org.apache.spark.sql.execution.joins.BroadcastHashJoinExec

/**
 * The keys that a query has joined the columns of its scans with, read after it has run: adaptive execution has
 * broadcast them, and the driver has them. These are such keys as [[JoinKeysRule]] tells scans, but for chains of
 * dimensions and the parts of a union.
 */
private[zorder] object ExecutedKeys extends AdaptiveSparkPlanHelper with PredicateHelper {
  private val MostRows = 100000

  /**
   * By the columns of scans, the keys of each join. Keys that are too many to be listed are left out, and those of
   * tables without a filter.
   */
  def of(plan: SparkPlan): Map[ExprId, Seq[Set[Any]]] =
    collectWithSubqueries(plan) { case join: BroadcastHashJoinExec => ofJoin(join) }.flatten
      .groupBy(_._1).map { case (column, all) => column -> all.map(_._2) }

  private def ofJoin(join: BroadcastHashJoinExec): Seq[(ExprId, Set[Any])] = {
    val (side, keys, other, otherKeys) = join.buildSide match {
      case BuildRight => (join.left, join.leftKeys, join.right, join.rightKeys)
      case BuildLeft => (join.right, join.rightKeys, join.left, join.leftKeys)
    }
    val columns = keys.map {
      case a: AttributeReference => scanned(side, a).map(_ -> a.dataType)
      case _ => None
    }
    val leavesOutRows = join.joinType == Inner || join.joinType == LeftSemi
    if (!leavesOutRows || columns.flatten.isEmpty) Nil
    else
      for {
        found <- stage(other).filter(s => isSmall(s) && isFiltered(s.plan)).toSeq
        broadcast <- BroadcastKeys.of(found, otherKeys).toSeq
        (column, place) <- columns.zipWithIndex
        (id, _) <- column.filter { case (_, ofScan) => broadcast.has(place, ofScan) }.toSeq
        values <- broadcast.listed(place)
      } yield id -> values
  }

  /** On a cluster, the driver may have to read the rows from their blocks again. */
  private def isSmall(stage: BroadcastQueryStageExec): Boolean =
    stage.getRuntimeStatistics.rowCount.exists(_ <= MostRows)

  /** Keys of all rows of a table ask for nothing. */
  private def isFiltered(plan: SparkPlan): Boolean = collectFirst(plan) {
    case f: FilterExec if splitConjunctivePredicates(f.condition).exists(!_.isInstanceOf[IsNotNull]) => f
    case scan: FileSourceScanExec if scan.partitionFilters.nonEmpty => scan
    case scan: DataSourceV2ScanExecBase => scan
    case rows: LocalTableScanExec => rows
  }.isDefined

  @tailrec
  private def stage(plan: SparkPlan): Option[BroadcastQueryStageExec] = plan match {
    case s: BroadcastQueryStageExec => Some(s)
    case InputAdapter(child) => stage(child)
    case _ => None
  }

  /** The column of a scan whose rows reach the join as they are, or without some of them. */
  @tailrec
  private def scanned(plan: SparkPlan, a: Attribute): Option[ExprId] = plan match {
    case ProjectExec(list, child) =>
      list.find(_.exprId == a.exprId) match {
        case Some(same: Attribute) => scanned(child, same)
        case Some(Alias(renamed: Attribute, _)) => scanned(child, renamed)
        case _ => None
      }
    case _: FilterExec | _: WholeStageCodegenExec | _: InputAdapter | _: ColumnarToRowExec =>
      scanned(plan.children.head, a)
    case join: BroadcastHashJoinExec =>
      JoinKeysRule.isOfRight(join.joinType, join.left.outputSet, join.right.outputSet, a) match {
        case Some(ofRight) => scanned(if (ofRight) join.right else join.left, a)
        case None => None
      }
    case _: QueryStageExec => None
    case scan: LeafExecNode if scan.outputSet.contains(a) => Some(a.exprId)
    case _ => None
  }
}

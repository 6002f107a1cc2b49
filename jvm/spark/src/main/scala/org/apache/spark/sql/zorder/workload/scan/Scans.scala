package org.apache.spark.sql.zorder.workload.scan

import org.apache.spark.sql.catalyst.catalog.HiveTableRelation
import org.apache.spark.sql.catalyst.expressions.{And, Expression}
import org.apache.spark.sql.catalyst.planning.PhysicalOperation
import org.apache.spark.sql.catalyst.plans.logical.{LeafNode, LogicalPlan}
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2ScanRelation
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.table.file.OwnScan
import org.apache.spark.sql.zorder.workload.predicate.{Boxes, Predicates}

/** One scan of a table in a query. */
final private[workload] case class Scan(table: String, leaf: LogicalPlan, boxes: Boxes)

/** The scans of an optimised plan that filter rows of a table, subqueries included. */
private[workload] object Scans {

  def of(plan: LogicalPlan): Seq[Scan] = {
    val here = plan match {
      case PhysicalOperation(_, filters, leaf: LeafNode) => scan(filters.reduceOption(And).toSeq, leaf)
      case _ => plan.children.flatMap(of)
    }
    here ++ subqueries(plan)
  }

  private def subqueries(plan: LogicalPlan): Seq[Scan] = {
    val operators = plan match {
      case PhysicalOperation(_, _, _: LeafNode) => plan.collect { case p => p }
      case _ => Seq(plan)
    }
    operators.flatMap(_.subqueries).flatMap(of)
  }

  private def scan(filters: Seq[Expression], leaf: LeafNode): Seq[Scan] =
    for {
      table <- tableOf(leaf).toSeq
      filter <- filters
      boxes = Predicates.boxes(filter)
      if !boxes.free && boxes.all.nonEmpty
    } yield Scan(table, leaf, boxes)

  /** The name with its catalog, or the path; None for what is no table, and for the scans of our own runs. */
  private def tableOf(leaf: LeafNode): Option[String] = leaf match {
    case l: LogicalRelation => l.relation match {
        case fs: HadoopFsRelation if fs.location.isInstanceOf[OwnScan] => None
        case fs: HadoopFsRelation =>
          l.catalogTable.map(t => ColumnPath.sql(t.identifier.nameParts))
            .orElse(Some(fs.location.rootPaths).filter(_.size == 1).map(_.head.toString))
        case _ => l.catalogTable.map(t => ColumnPath.sql(t.identifier.nameParts))
      }
    case h: HiveTableRelation => Some(ColumnPath.sql(h.tableMeta.identifier.nameParts))
    case v: DataSourceV2ScanRelation =>
      val r = v.relation
      r.identifier.map(i => ColumnPath.sql(r.catalog.map(_.name).toSeq ++ i.namespace :+ i.name))
        .orElse(Some(r.table.name))
    case _ => None
  }
}

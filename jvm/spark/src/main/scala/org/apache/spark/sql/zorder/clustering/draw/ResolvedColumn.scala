package org.apache.spark.sql.zorder.clustering.draw

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions.{Expression, Literal}
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.{ColumnPath, Folding, Normalization, SelectedExpression}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.querylog.QueryLog
import org.apache.spark.sql.zorder.skipping.predicate.{FilterColumn, ValueText}
import sparkzorder.curve.NormalizedValue
import sparkzorder.curve.cost.Condition

/** A resolved column or expression over a table's columns. Two with equal `column`s are the same. */
final private[zorder] case class ResolvedColumn(column: FilterColumn, expression: Expression) {

  /**
   * The condition on this column that follows from values of another one, if it is computed from that one
   * alone.
   */
  def from(other: ResolvedColumn, points: Seq[NormalizedValue]): Option[Condition] =
    for {
      path <- ColumnPath.of(other.expression)
      if paths == Seq(path)
      values <- Try(points.map(value(path, other, _))).toOption
      normalizedType <- Normalization.of(column.dataType)
    } yield Condition.in(values.filter(_ != null).map(normalizedType.normalize)).copy(orNull =
      values.contains(null))

  private def value(path: Seq[String], other: ResolvedColumn, point: NormalizedValue): Any = {
    val literal = Literal.create(ValueText.value(point, other.column.dataType).get, other.column.dataType)
    expression.transformDown { case e if ColumnPath.of(e).contains(path) => literal }.eval()
  }

  /** The columns and fields that it is computed from. */
  lazy val paths: Seq[Seq[String]] = ColumnPath.within(expression)
}

private[zorder] object ResolvedColumn {

  /** None if the text cannot be resolved against this schema. */
  def of(session: ClassicSession, schema: StructType, sql: String): Option[ResolvedColumn] = Try {
    val columns = ColumnPath.attributes(schema)
    val selected = Shims.ofRows(session, LocalRelation(columns)).select(expr(sql)).queryExecution.analyzed
    SelectedExpression.of(Folding(selected)).map(ColumnPath.asDeclared(_, columns)).flatMap { expression =>
      FilterColumn.of(expression).map(ResolvedColumn(_, expression))
    }
  }.toOption.flatten
}

/**
 * The columns and expressions that a log names, resolved against the columns of a table.
 *
 * @param all
 *   those that can be resolved, each with its text in the log, in the log's order
 */
final private[zorder] case class LogColumns(all: Seq[(String, ResolvedColumn)]) {
  val byText: Map[String, ResolvedColumn] = all.toMap
}

private[zorder] object LogColumns {

  /** @param log of this table alone */
  def of(session: ClassicSession, schema: StructType, log: QueryLog): LogColumns =
    LogColumns(log.columns.flatMap(text => ResolvedColumn.of(session, schema, text).map(text -> _)))
}

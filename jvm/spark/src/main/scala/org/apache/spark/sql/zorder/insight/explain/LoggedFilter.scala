package org.apache.spark.sql.zorder.insight.explain

import scala.collection.mutable

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.clustering.draw.{DrawnCondition, ResolvedColumn}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.querylog.{LoggedCondition, LoggedQuery}
import org.apache.spark.sql.zorder.skipping.predicate.FilterSets

/** The filters of a log over the columns of one table, for the queries whose values the log has. */
final private[explain] class LoggedFilter(session: ClassicSession, schema: StructType) {
  private val asked = mutable.HashMap.empty[String, Option[ResolvedColumn]]

  /**
   * The set for which a logged filter is true, or more; a condition without its values may be met anywhere.
   */
  def whereTrue[R](q: LoggedQuery, sets: FilterSets[R]): R =
    q.conjunctions
      .map(_.map(where(_, sets)).reduceOption((a, b) => sets.and(a, b)).getOrElse(sets.all))
      .reduceOption((a, b) => sets.or(a, b)).getOrElse(sets.all)

  /** Why conditions of a query are not known: each reason once. */
  def unknown(q: LoggedQuery): Seq[String] = q.conjunctions.flatten.flatMap { c =>
    if (!DrawnCondition.isExact(c)) Some("the log has no values: log with KEEP LITERALS")
    else if (known(c).isEmpty) Some(s"the table has no such column, or no such values: ${c.column}")
    else None
  }.distinct

  private def where[R](c: LoggedCondition, sets: FilterSets[R]): R = known(c).fold(sets.all) { a =>
    val condition = DrawnCondition.exact(c, a.column.dataType).get
    if (sets.unanswered(a.expression)) sets.unknown(a.expression)
    else if (ColumnPath.of(a.expression).isDefined) sets.on(a.column, condition)
    else sets.onFunction(a.expression, a.column, condition)
  }

  /** The column of a condition all of whose values are known. */
  private def known(c: LoggedCondition): Option[ResolvedColumn] =
    if (!DrawnCondition.isExact(c)) None
    else asked.getOrElseUpdate(c.column, ResolvedColumn.of(session, schema, c.column))
      .filter(a => DrawnCondition.exact(c, a.column.dataType).isDefined)
}

package org.apache.spark.sql.zorder.clustering.draw

import org.scalatest.Suite

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.{CatalystTypeConverters, InternalRow}
import org.apache.spark.sql.catalyst.expressions.{AttributeReference, BindReferences, Expression}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LocalRelation}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.expr.{ColumnPath, Folding, Normalization}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.querylog.{LoggedRanges, LoggedCondition}
import org.apache.spark.sql.zorder.skipping.predicate.{FilterColumn, FilterRanges}
import org.apache.spark.sql.zorder.querylog.scan.ColumnStatistics
import sparkzorder.curve.cost.Condition

/** A filter over a schema, resolved and folded as in a query. */
final class Filtered(schema: StructType, session: Shims.ClassicSession, where: String) {
  private val columns = ColumnPath.attributes(schema)

  val condition: Expression =
    Folding(Shims.ofRows(session, LocalRelation(columns)).where(expr(where)).queryExecution.analyzed) match {
      case Filter(found, _) => found
      case other => throw new IllegalArgumentException(s"$where is no filter: $other")
    }

  val ranges: FilterRanges = FilterRanges.of(condition)

  /** Whether Spark finds the filter true. */
  def isTrue(row: Row): Boolean = eval(condition, row) == true

  private lazy val values: Map[FilterColumn, Expression] =
    ranges.all.flatMap(_.conditions.keys).distinct.map { c =>
      c -> ResolvedColumn.of(session, schema, c.sql).get.expression
        .transform { case a: AttributeReference => columns.find(_.name == a.name).get }
    }.toMap

  def inRanges(row: Row): Boolean = ranges.all.exists(_.conditions.forall { case (c, asked) =>
    holds(asked, c, eval(values(c), row))
  })

  private def holds(condition: Condition, column: FilterColumn, value: Any): Boolean =
    if (value == null) condition.orNull
    else {
      val normalized = Normalization.of(column.dataType).get.normalize(value)
      condition.intervals.exists(_.meets(normalized, normalized))
    }

  private def eval(e: Expression, row: Row): Any = {
    val internal = CatalystTypeConverters.createToCatalystConverter(schema)(row).asInstanceOf[InternalRow]
    BindReferences.bindReference(e, columns).eval(internal)
  }
}

/** Filters as ranges, and ranges as people read them. */
trait FilterFixture extends ZOrderSession { this: Suite =>

  protected def filtered(ddl: String, where: String): Filtered =
    new Filtered(StructType.fromDDL(ddl), Shims.classic(spark), where)

  /** The ranges in the words of the log. */
  protected def logged(ddl: String, where: String, literals: Boolean = true): Seq[String] =
    shown(LoggedRanges.of(filtered(ddl, where).ranges, literals, ColumnStatistics.none))

  protected def shown(boxes: Seq[Seq[LoggedCondition]]): Seq[String] = boxes.map(_.map(show).mkString(" & "))

  private def show(c: LoggedCondition): String = {
    val values = if (c.values.isEmpty) "" else c.values.mkString("[", ",", "]")
    val range =
      if (c.low.isEmpty && c.high.isEmpty) "" else s"(${c.low.getOrElse("")}..${c.high.getOrElse("")})"
    s"${c.column} ${c.kind}${c.count.fold("")(n => s" $n")}$values$range"
  }
}

package org.apache.spark.sql.zorder.workload.predicate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.expr.{ColumnPath, WordTypes}

/**
 * What a condition is on: a column, a field of a struct, or a deterministic expression over the columns of
 * one row whose type has an order.
 *
 * @param sql
 *   its text without qualifiers; equal texts are the same column
 * @param masked
 *   the same with every literal left out
 */
final case class BoxColumn(sql: String, masked: String, dataType: DataType) {

  /** Whether the text holds a literal, which is a value of the data perhaps. */
  def hasLiterals: Boolean = sql != masked
}

object BoxColumn {

  /** None if nothing is known about the expression's values. */
  def of(e: Expression): Option[BoxColumn] =
    if (e.foldable || WordTypes.of(e.dataType).isEmpty) None
    else
      ColumnPath.of(e) match {
        case Some(path) =>
          val sql = ColumnPath.sql(path)
          Some(BoxColumn(sql, sql, e.dataType))
        case None if tellable(e) => Some(BoxColumn(text(e), text(masked(e)), e.dataType))
        case None => None
      }

  /** User-defined functions print alike whatever they do; a subquery is another query's text. */
  private def tellable(e: Expression): Boolean = e.deterministic && e.references.nonEmpty && !e.exists {
    case _: SubqueryExpression | _: UserDefinedExpression | _: DynamicPruning => true
    case _ => false
  }

  private def text(e: Expression): String =
    e.transform { case a: AttributeReference => a.withQualifier(Nil) }.sql

  private def masked(e: Expression): Expression =
    e.transform { case l: Literal => AttributeReference("?", l.dataType)() }
}

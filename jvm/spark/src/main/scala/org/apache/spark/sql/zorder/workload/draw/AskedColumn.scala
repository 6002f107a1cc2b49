package org.apache.spark.sql.zorder.workload.draw

import scala.util.Try

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.plans.logical.{LocalRelation, Project}
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.expr.{ColumnPath, Folding, WordTypes}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.workload.predicate.{BoxColumn, ValueText}
import sparkzorder.curve.Word
import sparkzorder.curve.cost.Condition

/** A resolved column or expression over a table's columns. Two with equal `column`s are the same. */
final private[workload] case class AskedColumn(column: BoxColumn, expression: Expression) {

  /** The condition on this column that follows from values of another one, if it is computed from that one alone. */
  def from(other: AskedColumn, points: Seq[Word]): Option[Condition] =
    for {
      path <- ColumnPath.of(other.expression)
      if columns == Seq(path)
      values <- Try(points.map(value(path, other, _))).toOption
      words <- WordTypes.of(column.dataType)
    } yield Condition.in(values.filter(_ != null).map(words.word)).copy(orNull = values.contains(null))

  private def value(path: Seq[String], other: AskedColumn, point: Word): Any = {
    val literal = Literal.create(ValueText.value(point, other.column.dataType).get, other.column.dataType)
    expression.transformDown { case e if ColumnPath.of(e).contains(path) => literal }.eval()
  }

  private lazy val columns: Seq[Seq[String]] = ColumnPath.within(expression)
}

private[workload] object AskedColumn {

  /** None if the text cannot be resolved against this schema. */
  def of(session: ClassicSession, schema: StructType, sql: String): Option[AskedColumn] = Try {
    val columns = schema.map(f => AttributeReference(f.name, f.dataType, f.nullable)())
    Folding(Shims.ofRows(session, LocalRelation(columns)).select(expr(sql)).queryExecution.analyzed) match {
      case Project(Seq(only), _) =>
        val plain = only match {
          case Alias(child, _) => child
          case other => other
        }
        val expression = ColumnPath.asDeclared(plain, columns)
        BoxColumn.of(expression).map(AskedColumn(_, expression))
      case _ => None
    }
  }.toOption.flatten
}

package org.apache.spark.sql.zorder.skip.filter

import java.util.BitSet

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.workload.predicate.{BoxColumn, Predicates}
import sparkzorder.curve.cost.Condition

/**
 * The files in which a filter is true for every row: those where it may be neither false nor NULL. Whatever is not
 * understood may be false anywhere.
 */
final class FilesThatMatchWholly(index: StatisticsIndex, unansweredColumn: Expression => Boolean) {
  private val may = new FilesThatMayMatch(index, unansweredColumn)

  def apply(filters: Seq[Expression]): BitSet = {
    val whole = may.all
    filters.foreach { f =>
      if (!whole.isEmpty) whole.andNot(mayBeNull(f))
      // where a constant is NULL nothing is left already: the next test takes a NULL for not false
      if (!whole.isEmpty) whole.andNot(Predicates.whereTrue(Not(f), may))
    }
    whole
  }

  private def mayBeNull(e: Expression): BitSet = e match {
    case And(l, r) => may.or(mayBeNull(l), mayBeNull(r))
    case Or(l, r) => may.or(mayBeNull(l), mayBeNull(r))
    case Not(child) => mayBeNull(child)
    case _: IsNull | _: IsNotNull | _: EqualNullSafe => may.none
    case Literal(value, _) => if (value == null) may.all else may.none
    case InSet(child, values) => if (values.contains(null)) may.all else anyNull(Seq(child))
    case _: BinaryComparison | _: In | _: StartsWith | _: EndsWith | _: Contains | _: Like =>
      anyNull(e.children)
    case _ => anyNull(Seq(e))
  }

  /** Where one of the values is NULL, of which each must be a constant or a column. */
  private def anyNull(values: Seq[Expression]): BitSet =
    values.foldLeft(may.none) { (found, v) =>
      val here = v match {
        case Literal(value, _) => if (value == null) may.all else may.none
        case _ if ColumnPath.of(v).isEmpty || may.unanswered(v) => may.all
        case _ => BoxColumn.of(v).flatMap(c => index.rangesOf(c.sql, c.dataType))
            .fold(may.all)(_.mayMeet(Condition.IsNull))
      }
      may.or(found, here)
    }
}

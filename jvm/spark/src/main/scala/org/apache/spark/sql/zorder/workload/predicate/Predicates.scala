package org.apache.spark.sql.zorder.workload.predicate

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.expr.{AlwaysTrue, ColumnPath}
import sparkzorder.curve.cost.Condition

/** What resolved filter expressions say of columns. What is not understood may be true anywhere. */
private[zorder] object Predicates {

  /** The rows for which the filter is true, as boxes that hold all of these, and more of them rather than fewer. */
  def boxes(filter: Expression): Boxes = whereTrue(filter, BoxSets)

  /** The set for which the filter is true, or more. */
  def whereTrue[R](filter: Expression, sets: FilterSets[R]): R = where(filter, truth = true, sets)

  /** The set for which the expression is `truth`, and not NULL. */
  private def where[R](e: Expression, truth: Boolean, sets: FilterSets[R]): R = {
    def part(e: Expression): R = where(e, truth, sets)
    e match {
      case Literal(value, BooleanType) => if (value == truth) sets.all else sets.none
      case And(l, r) => if (truth) sets.and(part(l), part(r)) else sets.or(part(l), part(r))
      case Or(l, r) => if (truth) sets.or(part(l), part(r)) else sets.and(part(l), part(r))
      case Not(child) => where(child, !truth, sets)
      case _: AlwaysTrue => if (truth) sets.all else sets.none
      case _ if sets.unanswered(e) => sets.unknown(e)
      case _ if e.foldable => folded(e).fold(sets.unknown(e))(part)
      case _ =>
        val test = constants(e)
        ColumnPredicate.of(test).fold(sets.unknown(e)) { p =>
          val condition = if (truth) p.whenTrue else p.whenFalse
          val function = functionOf(p.column, test)
          function.fold(sets.on(p.column, condition))(sets.onFunction(_, p.column, condition))
        }
    }
  }

  /** The expression that a test is on; None where that is a column or a field. */
  private def functionOf(column: BoxColumn, test: Expression): Option[Expression] =
    // the text of a whole test, such as a long list, is made only where no operand is the column
    (test.children.iterator ++ Iterator(test)).find(BoxColumn.of(_).contains(column))
      .filter(ColumnPath.of(_).isEmpty)

  private object BoxSets extends FilterSets[Boxes] {
    override def all: Boxes = Boxes.Free
    override def none: Boxes = Boxes.Nothing
    override def and(left: Boxes, right: => Boxes): Boxes = left.and(right)
    override def or(left: Boxes, right: => Boxes): Boxes = left.or(right)
    override def on(column: BoxColumn, condition: Condition): Boxes = Boxes.on(column, condition)
  }

  /** The expression with the constants directly below it evaluated. */
  private def constants(e: Expression): Expression = e.mapChildren {
    case l: Literal => l
    case child if child.foldable => folded(child).getOrElse(child)
    case child => child
  }

  private def folded(e: Expression): Option[Literal] =
    try if (e.deterministic) Some(Literal.create(e.eval(), e.dataType)) else None
    catch { case NonFatal(_) => None }
}

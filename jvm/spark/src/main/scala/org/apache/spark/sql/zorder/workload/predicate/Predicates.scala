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
      case And(l, r) => if (truth) all(e, truth, sets) else sets.or(part(l), part(r))
      case Or(l, r) => if (truth) sets.or(part(l), part(r)) else all(e, truth, sets)
      case Not(child) => where(child, !truth, sets)
      case _: AlwaysTrue => if (truth) sets.all else sets.none
      case _ if sets.unanswered(e) => sets.unknown(e)
      case _ if e.foldable => folded(e).fold(sets.unknown(e))(part)
      case _ =>
        def byOperands: R = tested(e, truth).fold(sets.unknown(e)) {
          case Tested(column, condition, function) =>
            function.fold(sets.on(column, condition))(sets.onFunction(_, column, condition))
        }
        sets.asColumn(e, truth).fold(byOperands)(sets.and(_, byOperands))
    }
  }

  /** Where every part of a conjunction, or of a disjunction that is false, is as it must be. */
  private def all[R](e: Expression, truth: Boolean, sets: FilterSets[R]): R = {
    val parts = conjuncts(e, truth)
    val each = parts.tail.foldLeft(where(parts.head._1, parts.head._2, sets)) { case (found, (part, so)) =>
      sets.and(found, where(part, so, sets))
    }
    if (!sets.forgetful) each
    else
      together(parts, sets).foldLeft(each) { case (found, (column, condition)) =>
        sets.and(found, sets.on(column, condition))
      }
  }

  private def conjuncts(e: Expression, truth: Boolean): Seq[(Expression, Boolean)] = e match {
    case And(l, r) if truth => conjuncts(l, truth) ++ conjuncts(r, truth)
    case Or(l, r) if !truth => conjuncts(l, truth) ++ conjuncts(r, truth)
    case Not(child) => conjuncts(child, !truth)
    case other => Seq(other -> truth)
  }

  /** What several parts say of one column, as one condition. */
  private def together[R](
      parts: Seq[(Expression, Boolean)],
      sets: FilterSets[R]): Seq[(BoxColumn, Condition)] = {
    val tests = parts.filter {
      // Spark adds tests for NULL to others, which say as much
      case (_: IsNull | _: IsNotNull | _: And | _: Or | _: AlwaysTrue, _) => false
      case (e, _) => e.references.size == 1 && !sets.unanswered(e)
    }
    val sameColumn = tests.groupBy(_._1.references.head.exprId).values.filter(_.length > 1).toSeq
    sameColumn.flatMap { same =>
      same.flatMap { case (e, truth) => tested(e, truth).flatMap(_.ofColumn) }.groupBy(_._1).toSeq.collect {
        case (column, conditions) if conditions.length > 1 =>
          column -> conditions.map(_._2).reduce(Conditions.and)
      }
    }
  }

  /** @param function that the test is on, where it is not the column itself */
  final private case class Tested(column: BoxColumn, condition: Condition, function: Option[Expression]) {

    /** What the test says of the column that a function keeps the order of. */
    def ofColumn: Option[(BoxColumn, Condition)] = function match {
      case None => Some(column -> condition)
      case Some(f) =>
        for {
          monotone <- MonotoneFunction.of(f)
          c <- monotone.where(condition)
        } yield monotone.column -> c
    }
  }

  /** None for what is not understood. */
  private def tested(e: Expression, truth: Boolean): Option[Tested] = {
    val test = constants(e)
    ColumnPredicate.of(test).map { p =>
      Tested(p.column, if (truth) p.whenTrue else p.whenFalse, functionOf(p.column, test))
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

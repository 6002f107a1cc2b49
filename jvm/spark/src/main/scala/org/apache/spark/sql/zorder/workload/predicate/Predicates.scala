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

  /** The set for which the filter is not true, but false or NULL, or more: outside, it is true for all rows. */
  def whereNotTrue[R](filter: Expression, sets: FilterSets[R]): R =
    // where a constant is NULL the first set is everything: the second one takes a NULL for not false
    sets.or(whereNull(filter, sets), where(filter, truth = false, sets))

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

  /** The set for which the filter is NULL, or more. */
  private def whereNull[R](filter: Expression, sets: FilterSets[R]): R = filter match {
    case _: And => anyPartNull(conjuncts(filter, truth = true), sets)
    case _: Or => anyPartNull(conjuncts(filter, truth = false), sets)
    case Not(child) => whereNull(child, sets)
    case _: IsNull | _: IsNotNull | _: EqualNullSafe | _: AlwaysTrue => sets.none
    case Literal(value, _) => if (value == null) sets.all else sets.none
    case InSet(child, values) => if (values.contains(null)) sets.all else anyNull(Seq(child), sets)
    case _: BinaryComparison | _: In | _: StartsWith | _: EndsWith | _: Contains | _: Like =>
      anyNull(constants(filter).children, sets)
    case _ => anyNull(Seq(filter), sets)
  }

  /** NULL where one part is, and each part is NULL or leaves the decision open. */
  private def anyPartNull[R](parts: Seq[(Expression, Boolean)], sets: FilterSets[R]): R = {
    val nulls = parts.map { case (part, _) => whereNull(part, sets) }
    // `or` and `and` may make use of their left side: the parts' own sets are taken last
    val some = nulls.foldLeft(sets.none)(sets.or(_, _))
    parts.zip(nulls).foldLeft(some) { case (left, ((part, open), isNull)) =>
      sets.and(left, sets.or(isNull, where(part, open, sets)))
    }
  }

  /**
   * Where one of the values is NULL, of which each must be a constant or a column: a function may be NULL where its
   * column is not. [[ColumnPredicate]] does not tell this. Its conditions hold the values for which a test is true, or
   * false, or more, so that NULL is not what is outside of both.
   */
  private def anyNull[R](values: Seq[Expression], sets: FilterSets[R]): R =
    values.foldLeft(sets.none) { (found, v) =>
      val here = v match {
        case Literal(value, _) => if (value == null) sets.all else sets.none
        case _ if ColumnPath.of(v).isEmpty || sets.unanswered(v) => sets.all
        case _ => BoxColumn.of(v).fold(sets.all)(sets.on(_, Condition.IsNull))
      }
      sets.or(found, here)
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
      case Some(f) => MonotoneFunction.onColumn(f, condition)
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

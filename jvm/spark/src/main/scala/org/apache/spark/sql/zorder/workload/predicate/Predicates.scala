package org.apache.spark.sql.zorder.workload.predicate

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType

/**
 * Resolved filter expressions as boxes. What is not understood is free, so that the boxes hold every row
 * for which the filter is true, and more of them rather than fewer.
 */
object Predicates {

  /** The rows for which the filter is true. */
  def boxes(filter: Expression): Boxes = where(filter, truth = true)

  /** The rows for which the expression is `truth`, and not NULL. */
  private def where(e: Expression, truth: Boolean): Boxes = e match {
    case Literal(value, BooleanType) => if (value == truth) Boxes.Free else Boxes.Nothing
    case And(l, r) if truth => where(l, truth).and(where(r, truth))
    case And(l, r) => where(l, truth).or(where(r, truth))
    case Or(l, r) if truth => where(l, truth).or(where(r, truth))
    case Or(l, r) => where(l, truth).and(where(r, truth))
    case Not(child) => where(child, !truth)
    case _ if e.foldable => folded(e).fold(Boxes.Free)(where(_, truth))
    case _ =>
      ColumnPredicate.of(constants(e)).fold(Boxes.Free)(a =>
        Boxes.on(a.column, if (truth) a.whenTrue else a.whenFalse))
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

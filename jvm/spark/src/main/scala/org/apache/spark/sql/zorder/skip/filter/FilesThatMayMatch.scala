package org.apache.spark.sql.zorder.skip.filter

import java.util.BitSet

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.BooleanType
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.workload.predicate.ColumnPredicate

/**
 * The files of an index in which a filter may be true for some row, evaluated over all files at once. Whatever is
 * not understood may be true anywhere, so that an error of judgement reads a file too many and never one too few.
 *
 * @param unanswered
 *   attributes that are not what the index has under their names, such as partition columns
 */
final class FilesThatMayMatch(index: StatisticsIndex, unanswered: Expression => Boolean) {
  private val count = index.files.count

  /** The files that may hold a row for which every filter is true. */
  def apply(filters: Seq[Expression]): BitSet = {
    val left = all
    filters.foreach(f => left.and(where(f, truth = true)))
    left
  }

  /** The files that may hold a row for which the expression is `truth`, and not NULL. */
  private def where(e: Expression, truth: Boolean): BitSet = e match {
    case Literal(value, BooleanType) => if (value == truth) all else none
    case And(l, r) => if (truth) both(l, r, truth) else either(l, r, truth)
    case Or(l, r) => if (truth) either(l, r, truth) else both(l, r, truth)
    case Not(child) => where(child, !truth)
    case _ if e.references.exists(unanswered) => all
    case _ if e.foldable => folded(e).fold(all)(where(_, truth))
    case _ => ColumnPredicate.of(constants(e)).fold(all)(onColumn(_, truth))
  }

  private def onColumn(predicate: ColumnPredicate, truth: Boolean): BitSet = {
    val condition = if (truth) predicate.whenTrue else predicate.whenFalse
    if (condition.impossible) none
    else index.rangesOf(predicate.column.sql, predicate.column.dataType).fold(all)(_.mayMeet(condition))
  }

  private def both(l: Expression, r: Expression, truth: Boolean): BitSet = {
    val found = where(l, truth)
    if (!found.isEmpty) found.and(where(r, truth))
    found
  }

  private def either(l: Expression, r: Expression, truth: Boolean): BitSet = {
    val found = where(l, truth)
    if (found.cardinality < count) found.or(where(r, truth))
    found
  }

  private def all: BitSet = {
    val set = new BitSet(count)
    set.set(0, count)
    set
  }

  private def none: BitSet = new BitSet(count)

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

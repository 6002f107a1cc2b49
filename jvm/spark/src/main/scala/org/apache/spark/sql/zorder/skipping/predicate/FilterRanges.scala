package org.apache.spark.sql.zorder.skipping.predicate

import org.apache.spark.sql.catalyst.expressions.Expression
import sparkzorder.curve.cost.Condition

/** Conditions that hold together, by column; a column that is absent may be anything. */
final case class FilterConjunction(conditions: Map[FilterColumn, Condition]) {

  private[zorder] def and(that: FilterConjunction): Option[FilterConjunction] = {
    val both = (conditions.keySet ++ that.conditions.keySet).iterator.map { c =>
      val parts = conditions.get(c) ++ that.conditions.get(c)
      c -> parts.reduce(ConditionAlgebra.and)
    }.toMap
    if (both.values.exists(_.impossible)) None else Some(FilterConjunction(both))
  }

  /** The union, where it is a conjunction: both have the same columns and differ in one at most. */
  private[zorder] def joined(that: FilterConjunction): Option[FilterConjunction] =
    if (conditions.keySet != that.conditions.keySet) None
    else {
      val unlike = conditions.keySet.filter(c => conditions(c) != that.conditions(c))
      if (unlike.size > 1) None
      else Some(FilterConjunction(conditions ++ unlike.map { c =>
        c -> ConditionAlgebra.or(conditions(c), that.conditions(c))
      }))
    }
}

/** A filter as the union of conjunctions, at most [[FilterRanges.Most]] of them; none is no row. */
final case class FilterRanges private (all: IndexedSeq[FilterConjunction]) {

  /** Nothing is known of the rows. */
  def free: Boolean = all.exists(_.conditions.isEmpty)

  def and(that: FilterRanges): FilterRanges = {
    val (more, fewer) = if (all.size >= that.all.size) (this, that) else (that, this)
    val left = if (more.all.size * fewer.all.size <= FilterRanges.Most) more else more.cover
    FilterRanges.union(for {
      a <- left.all
      b <- fewer.all
      both <- a.and(b)
    } yield both)
  }

  def or(that: FilterRanges): FilterRanges = FilterRanges.union(all ++ that.all)

  /** One conjunction around all of them. Columns that some of them leave open are open in it. */
  private def cover: FilterRanges = {
    val columns = all.map(_.conditions.keySet).reduceOption(_ intersect _).getOrElse(Set.empty[FilterColumn])
    FilterRanges.union(Vector(FilterConjunction(columns.map { c =>
      c -> all.map(_.conditions(c)).reduce(ConditionAlgebra.or)
    }.toMap)))
  }
}

object FilterRanges {

  /** A filter with more parts is covered by one conjunction: wider than the filter, never narrower. */
  val Most = 64

  /** Every row. */
  val Free: FilterRanges = new FilterRanges(Vector(FilterConjunction(Map.empty)))

  /** No row. */
  val Nothing: FilterRanges = new FilterRanges(Vector.empty)

  /**
   * The rows for which the filter is true, as ranges that hold all of these, and more of them rather than
   * fewer.
   */
  def of(filter: Expression): FilterRanges = Predicates.whereTrue(filter, Sets)

  private object Sets extends FilterSets[FilterRanges] {
    override def all: FilterRanges = Free
    override def none: FilterRanges = Nothing
    override def and(left: FilterRanges, right: => FilterRanges): FilterRanges = left.and(right)
    override def or(left: FilterRanges, right: => FilterRanges): FilterRanges = left.or(right)
    override def on(column: FilterColumn, condition: Condition): FilterRanges =
      if (condition.impossible) Nothing else union(Vector(FilterConjunction(Map(column -> condition))))
  }

  private def union(conjunctions: IndexedSeq[FilterConjunction]): FilterRanges = {
    val said =
      conjunctions.map(b => FilterConjunction(b.conditions.filter(_._2 != ConditionAlgebra.Anything)))
    if (said.exists(_.conditions.isEmpty)) Free
    else {
      val merged = said.foldLeft(Vector.empty[FilterConjunction])(add)
      if (merged.size <= Most) new FilterRanges(merged) else new FilterRanges(merged).cover
    }
  }

  private def add(done: Vector[FilterConjunction], next: FilterConjunction): Vector[FilterConjunction] = {
    val at = done.indexWhere(_.joined(next).isDefined)
    if (at < 0) done :+ next else done.updated(at, done(at).joined(next).get)
  }
}

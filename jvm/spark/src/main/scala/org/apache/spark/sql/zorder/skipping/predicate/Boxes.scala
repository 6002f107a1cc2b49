package org.apache.spark.sql.zorder.skipping.predicate

import sparkzorder.curve.cost.Condition

/** Conditions that hold together, by column; a column that is absent may be anything. */
final case class PredicateBox(conditions: Map[BoxColumn, Condition]) {

  private[zorder] def and(that: PredicateBox): Option[PredicateBox] = {
    val both = (conditions.keySet ++ that.conditions.keySet).iterator.map { c =>
      val parts = conditions.get(c) ++ that.conditions.get(c)
      c -> parts.reduce(Conditions.and)
    }.toMap
    if (both.values.exists(_.impossible)) None else Some(PredicateBox(both))
  }

  /** The union, where it is a box: both have the same columns and differ in one at most. */
  private[zorder] def joined(that: PredicateBox): Option[PredicateBox] =
    if (conditions.keySet != that.conditions.keySet) None
    else {
      val unlike = conditions.keySet.filter(c => conditions(c) != that.conditions(c))
      if (unlike.size > 1) None
      else Some(PredicateBox(conditions ++ unlike.map { c =>
        c -> Conditions.or(conditions(c), that.conditions(c))
      }))
    }
}

/** A filter as the union of boxes, at most [[Boxes.Most]] of them; no box is no row. */
final case class Boxes private (all: IndexedSeq[PredicateBox]) {

  /** Nothing is known of the rows. */
  def free: Boolean = all.exists(_.conditions.isEmpty)

  def and(that: Boxes): Boxes = {
    val (more, fewer) = if (all.size >= that.all.size) (this, that) else (that, this)
    val left = if (more.all.size * fewer.all.size <= Boxes.Most) more else more.cover
    Boxes.of(for {
      a <- left.all
      b <- fewer.all
      both <- a.and(b)
    } yield both)
  }

  def or(that: Boxes): Boxes = Boxes.of(all ++ that.all)

  /** One box around all; what they do not all speak of is free in it. */
  private def cover: Boxes = {
    val columns = all.map(_.conditions.keySet).reduceOption(_ intersect _).getOrElse(Set.empty[BoxColumn])
    Boxes.of(Vector(PredicateBox(columns.map { c =>
      c -> all.map(_.conditions(c)).reduce(Conditions.or)
    }.toMap)))
  }
}

object Boxes {

  /** A filter with more parts is covered by one box: wider than the filter, never narrower. */
  val Most = 64

  /** Every row. */
  val Free: Boxes = new Boxes(Vector(PredicateBox(Map.empty)))

  /** No row. */
  val Nothing: Boxes = new Boxes(Vector.empty)

  def on(column: BoxColumn, condition: Condition): Boxes =
    if (condition.impossible) Nothing else of(Vector(PredicateBox(Map(column -> condition))))

  private def of(boxes: IndexedSeq[PredicateBox]): Boxes = {
    val said = boxes.map(b => PredicateBox(b.conditions.filter(_._2 != Conditions.Anything)))
    if (said.exists(_.conditions.isEmpty)) Free
    else {
      val merged = said.foldLeft(Vector.empty[PredicateBox])(add)
      if (merged.size <= Most) new Boxes(merged) else new Boxes(merged).cover
    }
  }

  private def add(done: Vector[PredicateBox], next: PredicateBox): Vector[PredicateBox] = {
    val at = done.indexWhere(_.joined(next).isDefined)
    if (at < 0) done :+ next else done.updated(at, done(at).joined(next).get)
  }
}

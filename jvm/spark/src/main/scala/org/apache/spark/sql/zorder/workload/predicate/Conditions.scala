package org.apache.spark.sql.zorder.workload.predicate

import sparkzorder.curve.Word
import sparkzorder.curve.cost.{Condition, Interval}

/** The set algebra of conditions on one column. Intervals stay ascending and disjoint. */
private[workload] object Conditions {

  /** Every value and NULL. */
  val Anything: Condition = Condition(IndexedSeq(Interval.All), orNull = true)

  def and(a: Condition, b: Condition): Condition =
    Condition(both(a.intervals, b.intervals), a.orNull && b.orNull)

  def or(a: Condition, b: Condition): Condition =
    Condition(merged((a.intervals ++ b.intervals).sortWith(startsBefore)), a.orNull || b.orNull)

  /** From the first value to the last one, whatever lies between. */
  def hull(c: Condition): Condition =
    if (c.intervals.size < 2) c
    else Condition(IndexedSeq(Interval(c.intervals.head.min, c.intervals.last.max)), c.orNull)

  /** In one pass: a list of values may have thousands. */
  private def both(a: IndexedSeq[Interval], b: IndexedSeq[Interval]): IndexedSeq[Interval] = {
    val met = IndexedSeq.newBuilder[Interval]
    var i = 0
    var j = 0
    while (i < a.length && j < b.length) {
      met ++= overlap(a(i), b(j))
      if (endsBefore(a(i), b(j))) i += 1 else j += 1
    }
    met.result()
  }

  private def overlap(x: Interval, y: Interval): Option[Interval] = {
    val met = Interval(end(x.min, y.min)(_ > _), end(x.max, y.max)(_ < _))
    val empty = met.min.exists(low => met.max.exists(_ < low))
    if (empty) None else Some(met)
  }

  /** The narrower of two ends; an open end is the wider one. */
  private def end(a: Option[Word], b: Option[Word])(narrower: (Word, Word) => Boolean): Option[Word] =
    (a, b) match {
      case (Some(x), Some(y)) => Some(if (narrower(x, y)) x else y)
      case _ => a.orElse(b)
    }

  private def endsBefore(a: Interval, b: Interval): Boolean =
    a.max.exists(x => b.max.forall(x < _))

  private def startsBefore(a: Interval, b: Interval): Boolean = (a.min, b.min) match {
    case (Some(x), Some(y)) => x < y
    case (None, Some(_)) => true
    case _ => false
  }

  private def merged(ascending: IndexedSeq[Interval]): IndexedSeq[Interval] =
    ascending.foldLeft(Vector.empty[Interval]) { (done, next) =>
      done.lastOption.filter(reaches(_, next)) match {
        case Some(last) =>
          val max = for { x <- last.max; y <- next.max } yield if (x < y) y else x
          done.init :+ Interval(last.min, max)
        case None => done :+ next
      }
    }

  private def reaches(a: Interval, b: Interval): Boolean =
    a.max.forall(max => b.min.forall(_ <= max))
}

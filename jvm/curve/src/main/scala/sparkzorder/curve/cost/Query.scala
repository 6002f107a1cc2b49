package sparkzorder.curve.cost

import sparkzorder.curve.NormalizedValue

/** The values from `min` to `max`, both included; an end that is absent is open. NULL is in no interval. */
final case class Interval(min: Option[NormalizedValue], max: Option[NormalizedValue]) {

  /** Whether some value of `[low, high]` may be in the interval. */
  def meets(low: NormalizedValue, high: NormalizedValue): Boolean =
    min.forall(_ <= high) && max.forall(_ >= low)

  /** Whether it is one value. */
  def isPoint: Boolean = min.isDefined && min == max
}

object Interval {

  /** Every value. */
  val All: Interval = Interval(None, None)

  def point(normalized: NormalizedValue): Interval = Interval(Some(normalized), Some(normalized))
}

/**
 * What a query asks of one column: a value in one of the intervals, or NULL where `orNull`.
 *
 * @param intervals
 *   ascending and disjoint
 */
final case class Condition(intervals: IndexedSeq[Interval], orNull: Boolean) {

  /** No row meets it, as with `a = NULL`. */
  def impossible: Boolean = intervals.isEmpty && !orNull
}

object Condition {

  /** `IS NULL`. */
  val IsNull: Condition = Condition(IndexedSeq.empty, orNull = true)

  /** `IS NOT NULL`. */
  val IsNotNull: Condition = Condition(IndexedSeq(Interval.All), orNull = false)

  /** A comparison with NULL, an empty list, a range whose ends are the wrong way round. */
  val Impossible: Condition = Condition(IndexedSeq.empty, orNull = false)

  def equal(normalized: NormalizedValue): Condition =
    Condition(IndexedSeq(Interval.point(normalized)), orNull = false)

  /** One of the values, in any order. */
  def in(normalized: Seq[NormalizedValue]): Condition = {
    val ascending = normalized.toArray
    java.util.Arrays.sort(ascending, (a: NormalizedValue, b: NormalizedValue) => a.compare(b))
    val points = IndexedSeq.newBuilder[Interval]
    ascending.indices.foreach { i =>
      if (i == 0 || ascending(i).compare(ascending(i - 1)) != 0) points += Interval.point(ascending(i))
    }
    Condition(points.result(), orNull = false)
  }

  /** From `min` to `max`, both included; nothing when `min` is above `max`. */
  def between(min: NormalizedValue, max: NormalizedValue): Condition =
    if (min > max) Impossible else Condition(IndexedSeq(Interval(Some(min), Some(max))), orNull = false)
}

/** Conditions that hold together, by column number; a column that is absent may be anything. */
final case class Conjunction(conditions: Map[Int, Condition]) {
  def impossible: Boolean = conditions.values.exists(_.impossible)
}

/**
 * A filter as the union of conjunctions.
 *
 * @param weight
 *   how often the query is asked, in any unit that all queries of a log share; >= 0
 */
final case class Query(conjunctions: IndexedSeq[Conjunction], weight: Double) {

  /** What is asked of these columns alone, numbered by their places in the list: more rows, never fewer. */
  def over(columns: Seq[Int]): Query = {
    val place = columns.zipWithIndex.toMap
    def kept(c: Conjunction): Conjunction = Conjunction(c.conditions.collect {
      case (column, condition) if place.contains(column) => place(column) -> condition
    })
    Query(conjunctions.filterNot(_.impossible).map(kept), weight)
  }

  /** The columns that are asked about. */
  def columns: Set[Int] = conjunctions.iterator.flatMap(_.conditions.keys).toSet
}

object Query {

  /** One conjunction, asked once. */
  def of(conditions: (Int, Condition)*): Query = Query(IndexedSeq(Conjunction(conditions.toMap)), 1.0)
}

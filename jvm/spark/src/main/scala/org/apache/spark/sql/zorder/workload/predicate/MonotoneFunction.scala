package org.apache.spark.sql.zorder.workload.predicate

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.{ColumnPath, WordTypes}
import sparkzorder.curve.{LongWord, Word}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * A function of one column that keeps order, so that a condition on its result is one on the column. Where it changes
 * over is found by evaluating the function itself, never by a formula of ours.
 *
 * A function of the local time keeps order but for the hours that a clock goes through twice: there the ends of
 * intervals move outwards by as much as clocks went back ([[ClockChanges]]).
 *
 * @param column
 *   that the function is of
 * @param function
 *   over a row of this column alone
 * @param clock
 *   the clock whose changes matter; None if there is none
 */
final private[zorder] class MonotoneFunction private (
    val column: BoxColumn,
    function: Expression,
    domain: MonotoneFunction.Domain,
    clock: Option[ClockChanges]) {
  private val words = WordTypes.of(function.dataType).get

  /** What the column meets where the function meets the condition, or more; None if the function cannot be evaluated. */
  def where(condition: Condition): Option[Condition] = {
    val few = if (condition.intervals.length <= MonotoneFunction.MostIntervals) condition
    else Conditions.hull(condition)
    try {
      val inside = few.intervals.flatMap(preimage)
      val all = if (few.intervals.isEmpty) inside else inside ++ domain.rays
      val none = Condition(IndexedSeq.empty, condition.orNull)
      Some(all.foldLeft(none)((c, i) => Conditions.or(c, Condition(IndexedSeq(i), orNull = false))))
    } catch { case NonFatal(_) => None }
  }

  private def preimage(i: Interval): Option[Interval] = {
    val low = i.min.map(w => domain.below(first(w <= _), clock))
    // the last value whose result is not above
    val high = i.max.map(w => domain.above(first(w < _) - 1, clock))
    if (low.exists(l => high.exists(_ < l))) None
    else Some(Interval(low.map(LongWord), high.map(LongWord)))
  }

  /** The first word of the domain from which on the result is so; the one behind the last if none is. */
  private def first(isSo: Word => Boolean): BigInt =
    if (!isSo(result(domain.last))) BigInt(domain.last) + 1
    else if (isSo(result(domain.first))) domain.first
    else {
      var not = domain.first
      var so = domain.last
      // halves the way between two words of which the second is so and the first is not; their sum may overflow
      while (so - not != 1) {
        val middle = not + ((so - not) >>> 1)
        if (isSo(result(middle))) so = middle else not = middle
      }
      so
    }

  private def result(word: Long): Word = {
    val value = ValueText.value(LongWord(word), column.dataType).get
    val found = function.eval(org.apache.spark.sql.catalyst.InternalRow(value))
    if (found == null) throw new IllegalStateException("the function has no value there")
    else words.word(found)
  }
}

private[zorder] object MonotoneFunction {

  /** Longer lists are taken from their first value to their last. */
  private val MostIntervals = 200

  /** None for what may change the order of values, and for a column itself. */
  def of(e: Expression): Option[MonotoneFunction] =
    for {
      chain <- chainOf(e)
      if chain.leaf ne e
      column <- BoxColumn.of(chain.leaf)
      domain <- domainOf(column.dataType)
      _ <- WordTypes.of(e.dataType)
      // two functions of the local time could add up their hours
      if chain.zones.length <= 1
    } yield {
      val bound =
        e.transformDown { case x if x eq chain.leaf => BoundReference(0, column.dataType, nullable = false) }
      new MonotoneFunction(column, bound, domain, chain.zones.headOption)
    }

  /** Functions from a column upwards. */
  private case class Chain(leaf: Expression, zones: List[ClockChanges])

  private def chainOf(e: Expression): Option[Chain] = e match {
    case leaf if ColumnPath.of(leaf).isDefined => Some(Chain(leaf, Nil))
    case c: Cast => cast(c)
    case Year(child) if child.dataType == DateType => chainOf(child)
    case TruncDate(child, format) if format.foldable => chainOf(child)
    case t: TruncTimestamp if t.format.foldable =>
      chainOf(t.timestamp).map(c => c.copy(zones = ClockChanges(t.zoneId, exact = false) :: c.zones))
    case _ => None
  }

  private def cast(c: Cast): Option[Chain] = {
    def below: Option[Chain] = chainOf(c.child)
    def local: Option[Chain] =
      below.map(chain => chain.copy(zones = ClockChanges(c.zoneId, exact = true) :: chain.zones))
    (c.child.dataType, c.dataType) match {
      case (TimestampType, DateType | TimestampNTZType) => local
      // the first moment of each day
      case (DateType, TimestampType) => below
      case (DateType, TimestampNTZType) | (TimestampNTZType, DateType) | (TimestampType, LongType) => below
      case (from, to) if widens(from, to) => below
      case _ => None
    }
  }

  /** Casts of numbers that have a value for each, and never a lower one for a higher number. */
  private def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (ByteType, ShortType | IntegerType | LongType) => true
    case (ShortType, IntegerType | LongType) => true
    case (IntegerType, LongType) => true
    case (FloatType, DoubleType) => true
    case (ByteType | ShortType | IntegerType | LongType, FloatType | DoubleType) => true
    case (_: IntegralType, d: DecimalType) => d.precision - d.scale >= digits(from)
    case (a: DecimalType, b: DecimalType) =>
      b.scale >= a.scale && b.precision - b.scale >= a.precision - a.scale
    case (_: DecimalType, DoubleType) => true
    case _ => false
  }

  private def digits(integral: DataType): Int = integral match {
    case ByteType => 3
    case ShortType => 5
    case IntegerType => 10
    case _ => 19
  }

  /**
   * The words at which a function is asked.
   *
   * @param micros
   *   of which one word is so many, for days and timestamps; 0 for others
   * @param whole
   *   whether the type has no other words
   */
  private[predicate] case class Domain(first: Long, last: Long, micros: Long, whole: Boolean) {

    /** Words that are not asked, since functions overflow there: they may meet any condition. */
    def rays: Seq[Interval] =
      if (whole) Nil
      else Seq(Interval(None, Some(LongWord(first - 1))), Interval(Some(LongWord(last + 1)), None))

    def below(word: BigInt, clock: Option[ClockChanges]): Long = within(word - disorder(word, clock))

    def above(word: BigInt, clock: Option[ClockChanges]): Long = within(word + disorder(word, clock))

    private def disorder(word: BigInt, clock: Option[ClockChanges]): Long =
      if (micros == 0) 0L
      else clock.fold(0L)(_.disorder((word * micros).toLong)) match {
        case 0L => 0L
        case some => some / micros + (if (micros == 1) 0L else 1L)
      }

    /** Just outside stays just outside, so that an interval there is empty. */
    private def within(word: BigInt): Long =
      (if (whole) word.max(Long.MinValue).min(Long.MaxValue)
       else word.max(BigInt(first) - 1).min(BigInt(last) + 1)).toLong
  }

  private val SafeDays = 73L * 1000 * 1000
  private val MicrosOfDay = 86400L * 1000 * 1000

  private def domainOf(dataType: DataType): Option[Domain] = {
    def all(first: Long, last: Long) = Some(Domain(first, last, 0, whole = true))
    dataType match {
      case ByteType => all(Byte.MinValue.toLong, Byte.MaxValue.toLong)
      case ShortType => all(Short.MinValue.toLong, Short.MaxValue.toLong)
      case IntegerType => all(Int.MinValue.toLong, Int.MaxValue.toLong)
      case LongType => all(Long.MinValue, Long.MaxValue)
      case FloatType | DoubleType =>
        val (low, high) = AdjacentWords.domain(dataType)
        all(low, high)
      case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS =>
        val end = BigInt(10).pow(d.precision).toLong - 1
        all(-end, end)
      case DateType => Some(Domain(-SafeDays, SafeDays, MicrosOfDay, whole = false))
      case TimestampType | TimestampNTZType =>
        Some(Domain(-SafeDays * MicrosOfDay, SafeDays * MicrosOfDay, 1, whole = false))
      case _ => None
    }
  }
}

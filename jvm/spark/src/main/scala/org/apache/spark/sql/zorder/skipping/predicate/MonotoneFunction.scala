package org.apache.spark.sql.zorder.skipping.predicate

import java.nio.charset.StandardCharsets.UTF_8
import java.time.{Instant, LocalDate, ZoneId}
import java.time.temporal.ChronoUnit
import java.time.zone.ZoneOffsetTransition

import scala.util.control.NonFatal

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, OrderedBits, NormalizedValue}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * A function of one column that keeps order or tells values apart: a condition on its result is one on the
 * column.
 */
sealed abstract private[zorder] class MonotoneFunction {

  /** The column that the function reads. */
  def column: FilterColumn

  /**
   * What the column meets where the function meets the condition, or more; None if nothing can be said of it.
   */
  def where(condition: Condition): Option[Condition]

  /** As [[where]], without values so far out that the function may overflow: for estimates, never to leave out files. */
  def usually(condition: Condition): Option[Condition] = where(condition)
}

private[zorder] object MonotoneFunction {

  /** What a condition on a function says of the column that it is of; None if that is nothing. */
  def onColumn(function: Expression, condition: Condition): Option[(FilterColumn, Condition)] =
    for {
      f <- of(function)
      c <- f.where(condition)
    } yield f.column -> c

  /** None for what may change the order of values, and for a column itself. */
  def of(e: Expression): Option[MonotoneFunction] = e match {
    case Cast(leaf, BinaryType, _, _) if Normalization.isPlainString(leaf.dataType) =>
      columnOf(leaf).map(new BytesOfString(_))
    case Cast(leaf, to: StringType, _, _) if isNumber(leaf.dataType) && Normalization.isPlainString(to) =>
      columnOf(leaf).map(new TextOfNumber(_, e.transformDown { case x if x eq leaf => input(leaf.dataType) }))
    case _ => searched(e)
  }

  private def searched(e: Expression): Option[MonotoneFunction] =
    for {
      chain <- chainOf(e)
      if chain.leaf ne e
      column <- columnOf(chain.leaf)
      domain <- domainOf(column.dataType, chain.asText)
      _ <- Normalization.of(e.dataType)
      if mayAddUp(chain.zones)
    } yield {
      val bound = e.transformDown { case x if x eq chain.leaf => input(column.dataType) }
      new OrderedFunction(column, bound, domain, chain.zones)
    }

  private def columnOf(leaf: Expression): Option[FilterColumn] =
    if (ColumnPath.of(leaf).isDefined) FilterColumn.of(leaf) else None

  private def input(dataType: DataType): Expression = BoundReference(0, dataType, nullable = false)

  /**
   * Two functions of the local time could add up their hours, but for one that makes moments of it at first.
   */
  private def mayAddUp(zones: Seq[ClockChanges]): Boolean =
    zones.length <= 1 || zones.length == 2 && zones.last.ofLocal

  /**
   * Functions from a column upwards.
   *
   * @param zones
   *   clocks whose changes matter, the uppermost function's first
   * @param asText
   *   whether days or moments become texts
   */
  private case class Chain(leaf: Expression, zones: List[ClockChanges], asText: Boolean = false) {
    def changing(clock: ClockChanges): Chain = copy(zones = clock :: zones)
  }

  private def chainOf(e: Expression): Option[Chain] = e match {
    case leaf if ColumnPath.of(leaf).isDefined => Some(Chain(leaf, Nil))
    case c: Cast => cast(c)
    case Year(child) if child.dataType == DateType => chainOf(child)
    case TruncDate(child, format) if format.foldable => chainOf(child)
    case t: TruncTimestamp if t.format.foldable =>
      chainOf(t.timestamp).map(_.changing(ClockChanges(t.zoneId, exact = false)))
    case _ => None
  }

  private def cast(c: Cast): Option[Chain] = {
    def below: Option[Chain] = chainOf(c.child)
    def local: Option[Chain] = below.map(_.changing(ClockChanges(c.zoneId, exact = true)))
    (c.child.dataType, c.dataType) match {
      case (TimestampType, DateType | TimestampNTZType) => local
      case (TimestampNTZType, TimestampType) =>
        below.map(_.changing(ClockChanges(c.zoneId, exact = true, ofLocal = true)))
      // the first moment of each day
      case (DateType, TimestampType) => below
      case (DateType, TimestampNTZType) | (TimestampNTZType, DateType) | (TimestampType, LongType) => below
      case (DateType | TimestampNTZType, s: StringType) if Normalization.isPlainString(s) =>
        below.map(_.copy(asText = true))
      case (TimestampType, s: StringType) if Normalization.isPlainString(s) =>
        local.map(_.copy(asText = true))
      case (from, to) if widens(from, to) => below
      case _ => None
    }
  }

  /** Casts that have a value for each, and never a lower one for a higher one. */
  private def widens(from: DataType, to: DataType): Boolean = (from, to) match {
    case (ByteType, ShortType | IntegerType | LongType) => true
    case (ShortType, IntegerType | LongType) => true
    case (IntegerType, LongType) => true
    case (FloatType, DoubleType) => true
    case (ByteType | ShortType | IntegerType | LongType, FloatType | DoubleType) => true
    case (_: IntegralType, d: DecimalType) => d.precision - d.scale >= digits(from)
    // fewer digits behind the point are rounded; a greatest value that is rounded up too far has no result
    case (a: DecimalType, b: DecimalType) => b.precision - b.scale >= a.precision - a.scale
    case (_: DecimalType, DoubleType) => true
    case (a: DayTimeIntervalType, b: DayTimeIntervalType) =>
      b.startField <= a.startField && b.endField >= a.endField
    case (a: YearMonthIntervalType, b: YearMonthIntervalType) =>
      b.startField <= a.startField && b.endField >= a.endField
    case _ => false
  }

  private def isNumber(dataType: DataType): Boolean = dataType match {
    case _: IntegralType | _: DecimalType | FloatType | DoubleType => true
    case _ => false
  }

  private def digits(integral: DataType): Int = integral match {
    case ByteType => 3
    case ShortType => 5
    case IntegerType => 10
    case _ => 19
  }

  private val SafeDays = BigInt(73L * 1000 * 1000)
  private val MicrosOfDay = BigInt(86400L * 1000 * 1000)
  // texts of other years have signs, and more digits
  private val FirstTextDay = BigInt(LocalDate.of(1, 1, 1).toEpochDay)
  private val LastTextDay = BigInt(LocalDate.of(9999, 12, 31).toEpochDay)

  private def domainOf(dataType: DataType, asText: Boolean): Option[Domain] = {
    val (firstDay, lastDay) = if (asText) (FirstTextDay, LastTextDay) else (-SafeDays, SafeDays)
    def all(first: BigInt, last: BigInt, normalize: BigInt => NormalizedValue = long) =
      Some(Domain(first, last, 0, whole = true, normalize))
    def moments(margin: BigInt) =
      Some(Domain(
        firstDay * MicrosOfDay + margin,
        (lastDay + 1) * MicrosOfDay - 1 - margin,
        1,
        whole = false,
        long))
    dataType match {
      case ByteType => all(Byte.MinValue.toInt, Byte.MaxValue.toInt)
      case ShortType => all(Short.MinValue.toInt, Short.MaxValue.toInt)
      case IntegerType | _: YearMonthIntervalType => all(Int.MinValue, Int.MaxValue)
      case LongType | _: DayTimeIntervalType => all(Long.MinValue, Long.MaxValue)
      case FloatType | DoubleType =>
        val (low, high) = AdjacentValues.domain(dataType)
        all(low, high)
      case d: DecimalType =>
        val end = BigInt(10).pow(d.precision) - 1
        all(-end, end, if (d.precision <= Decimal.MAX_LONG_DIGITS) long else decimal)
      case DateType => Some(Domain(firstDay, lastDay, MicrosOfDay.toLong, whole = false, long))
      case TimestampNTZType => moments(0)
      // the local time may be a day ahead or behind
      case TimestampType => moments(MicrosOfDay)
      case _ => None
    }
  }

  private val long: BigInt => NormalizedValue = n => NormalizedLong(n.toLong)
  private val decimal: BigInt => NormalizedValue =
    n => NormalizedBytes(OrderedBits.ofBigInteger(n.bigInteger))
}

/**
 * The values at which a function is asked, as numbers.
 *
 * @param micros
 *   of which one value is so many, for days and timestamps; 0 for others
 * @param whole
 *   whether the type has no other values
 */
private case class Domain(
    first: BigInt,
    last: BigInt,
    micros: Long,
    whole: Boolean,
    normalize: BigInt => NormalizedValue) {

  /** Values that are not asked, since functions overflow there: they may meet any condition. */
  def rays: Seq[Interval] =
    if (whole) Nil
    else Seq(Interval(None, Some(normalize(first - 1))), Interval(Some(normalize(last + 1)), None))

  def below(number: BigInt, clocks: Seq[ClockChanges]): BigInt = within(number - disorder(number, clocks))

  def above(number: BigInt, clocks: Seq[ClockChanges]): BigInt = within(number + disorder(number, clocks))

  private def disorder(number: BigInt, clocks: Seq[ClockChanges]): BigInt =
    if (micros == 0) 0
    else clocks.map(_.disorder((number * micros).toLong)).sum match {
      case 0L => 0
      case some => some / micros + (if (micros == 1) 0L else 1L)
    }

  /** Just outside stays just outside, so that an interval there is empty. */
  private def within(number: BigInt): BigInt = number.max(first - 1).min(last + 1)
}

/**
 * Where the function changes over is found by evaluating it, never by a formula of ours.
 *
 * A function of the local time keeps order, except in the hours that a clock goes through twice; one that cuts local
 * times, also behind some of the hours that a clock leaves out. A function that makes moments of local times keeps
 * order, except in those hours. There the ends of intervals move outwards by as much ([[ClockChanges]]).
 *
 * @param function
 *   over a row of this column alone
 * @param clocks
 *   the clocks whose changes matter
 */
final private class OrderedFunction(
    override val column: FilterColumn,
    function: Expression,
    domain: Domain,
    clocks: Seq[ClockChanges])
    extends MonotoneFunction {
  private val normalizedType = Normalization.of(function.dataType).get

  /** None if it may be NULL for a value, as a cast to fewer digits, and NULL meets the condition. */
  override def where(condition: Condition): Option[Condition] = found(condition, domain.rays)

  override def usually(condition: Condition): Option[Condition] = found(condition, Nil)

  private def found(condition: Condition, beyond: Seq[Interval]): Option[Condition] =
    if (condition.orNull && function.nullable) None else ofValues(condition, beyond)

  private def ofValues(condition: Condition, beyond: Seq[Interval]): Option[Condition] = {
    val few = if (condition.intervals.length <= OrderedFunction.MostIntervals) condition
    else ConditionAlgebra.hull(condition)
    try {
      val inside = few.intervals.flatMap(preimage)
      val all = if (few.intervals.isEmpty) inside else inside ++ beyond
      val none = Condition(IndexedSeq.empty, condition.orNull)
      Some(all.foldLeft(none)((c, i) => ConditionAlgebra.or(c, Condition(IndexedSeq(i), orNull = false))))
    } catch { case NonFatal(_) => None }
  }

  private def preimage(i: Interval): Option[Interval] = {
    val low = i.min.map(w => domain.below(first(w <= _), clocks))
    // the last value whose result is not above
    val high = i.max.map(w => domain.above(first(w < _) - 1, clocks))
    val nowhere = low.exists(l => high.exists(_ < l)) ||
      domain.whole && (low.exists(_ > domain.last) || high.exists(_ < domain.first))
    if (nowhere) None else Some(Interval(low.map(domain.normalize), high.map(domain.normalize)))
  }

  /** The first value of the domain from which on the result is so; the one behind the last if none is. */
  private def first(isSo: NormalizedValue => Boolean): BigInt =
    if (!isSo(result(domain.last))) domain.last + 1
    else if (isSo(result(domain.first))) domain.first
    else {
      var not = domain.first
      var so = domain.last
      // halves the range between a value for which it does not hold and a value for which it does
      while (so - not != 1) {
        val middle = (not + so) >> 1
        if (isSo(result(middle))) so = middle else not = middle
      }
      so
    }

  private def result(number: BigInt): NormalizedValue = {
    val value = ValueText.value(domain.normalize(number), column.dataType).get
    val found = function.eval(InternalRow(value))
    if (found == null) throw new IllegalStateException("the function has no value there")
    else normalizedType.normalize(found)
  }
}

private object OrderedFunction {

  /** Longer lists are taken from their first value to their last. */
  private val MostIntervals = 200
}

/** Texts are in another order than their numbers, but no two numbers have the same one. */
final private class TextOfNumber(override val column: FilterColumn, text: Expression)
    extends MonotoneFunction {

  /** None where a condition is on more than single texts. */
  override def where(condition: Condition): Option[Condition] = {
    val texts = condition.intervals.map {
      case Interval(Some(NormalizedBytes(low)), Some(NormalizedBytes(high))) if low.sameElements(high) =>
        Some(low)
      case _ => None
    }
    if (texts.contains(None)) None
    else Some(Condition.in(texts.flatten.flatMap(number)).copy(orNull = condition.orNull))
  }

  /** The number that has the text; None where none has, as '05'. */
  private def number(bytes: Array[Byte]): Option[NormalizedValue] =
    for {
      normalized <- ValueText.normalize(new String(bytes, UTF_8), column.dataType)
      value <- ValueText.value(normalized, column.dataType)
      // zero has two texts and one normalized value
      if text.eval(InternalRow(value)) == UTF8String.fromBytes(bytes) || isZero(value)
    } yield normalized

  private def isZero(value: Any): Boolean = value match {
    case d: Double => d == 0.0
    case f: Float => f == 0.0f
    case _ => false
  }
}

/** Normalized strings are their bytes. */
final private class BytesOfString(override val column: FilterColumn) extends MonotoneFunction {
  override def where(condition: Condition): Option[Condition] = Some(condition)
}

/**
 * When the clocks of a zone go back, and local times come a second time, or forward, and local times are left
 * out.
 *
 * @param exact
 *   whether equal local times have equal results; otherwise local times are cut to hours and the like, and a result
 *   depends on which of two equal times is meant, and on whether the time that is left was left out
 * @param ofLocal
 *   whether moments are made of local times, of which those that are left out count from before the change;
 *   otherwise local times are made of moments
 */
final private[predicate] case class ClockChanges(zone: ZoneId, exact: Boolean, ofLocal: Boolean = false) {
  private val rules = zone.getRules

  /**
   * How far, in microseconds, the order of local times near a moment may differ from that of time itself: by
   * no more than clocks go back (or forward) in all within some days, beyond which no two offsets can make up
   * for the distance. A local time stands for a moment less than a day away.
   */
  def disorder(micros: Long): Long =
    if (rules.isFixedOffset) 0L
    else {
      val until = at(micros + ClockChanges.Near)
      val changes = Iterator.iterate(rules.nextTransition(at(micros - ClockChanges.Near)))(t =>
        rules.nextTransition(t.getInstant)).takeWhile(t => t != null && !t.getInstant.isAfter(until))
      val seconds = changes.filter(t => t.isGap == ofLocal || !exact && movesBorder(t))
        .map(_.getDuration.getSeconds.abs).sum
      if (seconds == 0) 0L else if (exact) seconds * 1000000L else ClockChanges.Near
    }

  /**
   * Whether times behind a gap may be cut to a time inside it, which then counts from before the change: later than what
   * comes next. The clocks of Antarctica/Casey went from 00:01 to 03:01 in October 2022, and there the hour of 03:11 is
   * 06:00, that of 04:10 is 04:00.
   */
  private def movesBorder(t: ZoneOffsetTransition): Boolean =
    t.isGap && t.getDateTimeAfter != t.getDateTimeAfter.truncatedTo(ChronoUnit.HOURS)

  private def at(micros: Long): Instant =
    Instant.ofEpochSecond(Math.floorDiv(micros, 1000000L), Math.floorMod(micros, 1000000L) * 1000L)
}

private object ClockChanges {

  /**
   * Offsets are within 18 hours of UTC: no two differ by more than 36 hours, and no date lasts longer than
   * 48.
   */
  private val Near = 5L * 86400 * 1000000
}

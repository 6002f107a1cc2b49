package org.apache.spark.sql.zorder.skipping.predicate

import java.time.{Instant, LocalDate, ZoneId}

import scala.util.Random

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.Normalization
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.{LongTest, SameOnAllLines}
import sparkzorder.curve.NormalizedLong
import sparkzorder.curve.cost.Condition

/** A condition on a function of a column as one on the column, beside the function itself at the borders. */
class MonotoneFunctionSuite extends AnyFunSuite {
  private val random = new Random(17)

  private def holds(c: Condition, value: Any, dataType: DataType): Boolean = {
    val normalized = Normalization.of(dataType).get.normalize(value)
    c.intervals.exists(i => i.meets(normalized, normalized))
  }

  private def filters(f: Expression, v: Literal, w: Literal): Seq[Expression] = Seq(
    EqualTo(f, v),
    EqualNullSafe(f, v),
    LessThan(f, v),
    LessThanOrEqual(v, f),
    GreaterThan(f, v),
    Not(GreaterThanOrEqual(f, v)),
    Not(EqualTo(f, v)),
    In(f, Seq(v, w)),
    And(GreaterThanOrEqual(f, v), LessThanOrEqual(f, w)),
    IsNotNull(f))

  private def forNull(f: Expression): Seq[Expression] =
    Seq(IsNull(f), EqualNullSafe(f, Literal.create(null, f.dataType)), Not(IsNotNull(f)))

  /**
   * @param exactly
   *   whether the column's condition must be no wider at this value
   * @return
   *   how many values it left out
   */
  private def check(
      f: Expression,
      column: BoundReference,
      values: Seq[Any],
      exactly: Any => Boolean,
      chosen: Seq[(Int, Int)] = Nil): Long = {
    val attribute = AttributeReference("c", column.dataType)()
    val named = f.transform { case b: BoundReference if b eq column => attribute }
    val results = values.map(v => f.eval(InternalRow(v)))
    val pairs =
      if (chosen.nonEmpty) chosen
      else Seq.fill(6)((random.nextInt(values.length), random.nextInt(values.length)))
    pairs.map { case (i, j) =>
      def literal(k: Int) = Literal.create(results(k), f.dataType)
      (filters(named, literal(i), literal(j)) ++ forNull(named)).map { filter =>
        val condition = Predicates.whereTrue(filter, new OfColumn)
        // a function that has no value at an end of its column's type is not asked at all
        val isAsked = condition != ConditionAlgebra.Anything
        assert(!condition.orNull || !filter.isInstanceOf[EqualTo] || !isAsked, filter)
        val bound = BindReferences.bindReference(filter, AttributeSeq(Seq(attribute)))
        values.count { v =>
          val held = holds(condition, v, column.dataType)
          val matches = bound.eval(InternalRow(v)) == true
          assert(held || !matches, s"${filter.sql}: $v is left out of $condition")
          if (exactly(v) && isAsked) assert(held == matches, s"${filter.sql}: $v is in $condition")
          !held
        }.toLong
      }.sum
    }.sum
  }

  private val zones = Seq(
    "UTC",
    "+05:30",
    "America/Sao_Paulo",
    "Asia/Manila",
    "Pacific/Apia",
    "America/St_Johns",
    "America/Juneau",
    "Pacific/Kwajalein",
    "Australia/Lord_Howe",
    "Europe/Berlin")

  private val units = Seq("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND")

  private def micros(i: Instant): Long = i.getEpochSecond * 1000000L + i.getNano / 1000

  private val days = Seq(
    "0001-01-01",
    "1582-10-04",
    "1582-10-15",
    "1899-12-31",
    "1970-01-01",
    "2023-12-31",
    "2024-01-01",
    "2024-02-29",
    "2024-03-01",
    "9999-12-31").map(LocalDate.parse)

  /** Moments at which clocks change, days and years begin; one microsecond and an hour around each. */
  private def moments(zone: ZoneId): Seq[Long] = {
    val rules = zone.getRules
    val changes = Iterator.iterate(rules.nextTransition(Instant.parse("1800-01-01T00:00:00Z")))(t =>
      rules.nextTransition(t.getInstant)).takeWhile(t =>
      t != null && t.getInstant.isBefore(Instant.parse("2030-01-01T00:00:00Z"))).toSeq
    val some = random.shuffle(changes).take(4) ++ changes.filter(_.getDuration.abs.getSeconds >= 7200)
    val borders = some.flatMap { t =>
      val day = t.getDateTimeBefore.toLocalDate
      micros(t.getInstant) +: Seq(-1L, 0L, 1L).map(n => micros(day.plusDays(n).atStartOfDay(zone).toInstant))
    } ++ days.map(d => micros(d.atStartOfDay(zone).toInstant))
    borders.flatMap(b => Seq(-3600000000L, -1L, 0L, 30000000L).map(b + _)).distinct
  }

  private def farFromOverlaps(zone: ZoneId)(v: Any): Boolean =
    ClockChanges(zone, exact = true).disorder(v.asInstanceOf[Long]) == 0

  test(
    "functions of timestamps, where clocks go back over midnight and where days are left out",
    SameOnAllLines) {
    ofTimestamps(Seq("+05:30", "Pacific/Apia", "America/St_Johns"))
  }

  test("functions of timestamps in more zones", LongTest)(ofTimestamps(zones))

  test("hours and minutes behind those that clocks leave out") {
    val leaf = BoundReference(0, TimestampType, nullable = true)
    for {
      (zone, unit, at, step) <- Seq(
        ("Antarctica/Casey", "HOUR", "2022-10-01T16:01:00Z", 600),
        ("America/St_Johns", "HOUR", "1988-04-03T03:31:00Z", 600),
        ("America/Montevideo", "HOUR", "1974-01-13T03:00:00Z", 600),
        ("Australia/Lord_Howe", "HOUR", "2023-09-30T15:30:00Z", 600),
        ("Africa/Monrovia", "MINUTE", "1972-01-07T00:44:30Z", 10))
    } {
      val change = micros(Instant.parse(at))
      val values =
        (-36 to 36).map(i => change + i * step * 1000000L) ++ Seq(-4102444800000000L, 4102444800000000L)
      val cut = TruncTimestamp(Literal(unit), leaf, Some(zone))
      val each = values.indices.map(i => (i, (i + 7) % values.size))
      assert(check(cut, leaf, values, _ => false, each) > 0, zone)
    }
  }

  private def ofTimestamps(zones: Seq[String]): Unit = {
    val leaf = BoundReference(0, TimestampType, nullable = true)
    zones.foreach { name =>
      val zone = ZoneId.of(name)
      val date = Cast(leaf, DateType, Some(name))
      val functions = Seq(
        date,
        Year(date),
        TruncDate(date, Literal("MM")),
        TruncDate(date, Literal("WEEK")),
        Cast(leaf, TimestampNTZType, Some(name)),
        Cast(leaf, LongType, Some(name))) ++
        units.map(u => TruncTimestamp(Literal(u), leaf, Some(name)))
      val values = moments(zone)
      functions.foreach { f =>
        val left = check(f, leaf, values, v => farFromOverlaps(zone)(v) && zone.getRules.isFixedOffset)
        assert(left > 0, s"$name ${f.sql}")
      }
    }
  }

  /** Local times around those that clocks leave out, and those that come twice. */
  private def localMoments(zone: ZoneId): Seq[Long] = {
    val rules = zone.getRules
    val near = moments(zone).map(m =>
      m + rules.getOffset(Instant.ofEpochSecond(m / 1000000)).getTotalSeconds * 1000000L)
    val changes = Iterator.iterate(rules.nextTransition(Instant.parse("1800-01-01T00:00:00Z")))(t =>
      rules.nextTransition(t.getInstant)).takeWhile(t =>
      t != null && t.getInstant.isBefore(Instant.parse("2030-01-01T00:00:00Z"))).toSeq
    val gaps = changes.filter(_.isGap)
    val some = random.shuffle(gaps).take(4) ++ gaps.filter(_.getDuration.getSeconds > 7200)
    val ends = some.flatMap(t => Seq(t.getDateTimeBefore, t.getDateTimeAfter))
      .map(l => micros(l.toInstant(java.time.ZoneOffset.UTC)))
    (near ++ ends.flatMap(b => Seq(-3600000000L, -1L, 0L, 1L, 1800000000L).map(b + _))).distinct
  }

  test("functions of local times, where clocks go forward", SameOnAllLines) {
    ofLocalTimes(Seq("+05:30", "Pacific/Apia", "Europe/Berlin"))
  }

  test("functions of local times in more zones", LongTest)(ofLocalTimes(zones))

  private def ofLocalTimes(zones: Seq[String]): Unit = {
    val leaf = BoundReference(0, TimestampNTZType, nullable = true)
    zones.foreach { name =>
      val zone = ZoneId.of(name)
      val moment = Cast(leaf, TimestampType, Some(name))
      val functions = Seq(
        moment,
        Cast(moment, LongType, Some(name)),
        Cast(moment, DateType, Some(name)),
        Cast(leaf, DateType, Some(name))) ++
        units.map(u => TruncTimestamp(Literal(u), moment, Some(name)))
      functions.foreach { f =>
        val left = check(f, leaf, localMoments(zone), _ => zone.getRules.isFixedOffset)
        assert(left > 0, s"$name ${f.sql}")
      }
    }
    val summer = (0 until 60).map(i => micros(Instant.parse("2024-05-01T00:00:00Z")) + i * 3600000000L)
    check(Cast(leaf, TimestampType, Some("Europe/Berlin")), leaf, summer, _ => true)
  }

  test("texts of days and moments") {
    def text(leaf: Expression, zone: String) = Cast(leaf, StringType, Some(zone))
    val day = BoundReference(0, DateType, nullable = true)
    val dates = days.flatMap(d => Seq(-400L, -31L, -1L, 0L, 1L, 31L).map(n => (d.toEpochDay + n).toInt)) ++
      Seq(LocalDate.of(-44, 3, 15), LocalDate.of(10000, 1, 1), LocalDate.of(0, 1, 1)).map(_.toEpochDay.toInt)
    def usual(d: Any) =
      d.asInstanceOf[Int] >= LocalDate.of(1, 1, 1).toEpochDay && d.asInstanceOf[Int] <= 2932896
    assert(check(text(day, "UTC"), day, dates, usual) > 0)
    assert(check(text(TruncDate(day, Literal("MM")), "UTC"), day, dates, _ => false) > 0)
    Seq("UTC", "America/St_Johns", "Pacific/Apia", "Europe/Berlin").foreach { zone =>
      val odd = Seq(0L, 100000L, 120000L, 10L, 999999L)
      val moment = BoundReference(0, TimestampType, nullable = true)
      val at = moments(ZoneId.of(zone)).flatMap(m => odd.map(m + _)) ++
        Seq("-0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "+10000-01-01T00:00:00Z").map(i =>
          micros(Instant.parse(i)))
      assert(check(text(moment, zone), moment, at, _ => false) > 0)
      val local = BoundReference(0, TimestampNTZType, nullable = true)
      assert(check(text(local, zone), local, at, _ => false) > 0)
      val prefix = StartsWith(text(AttributeReference("c", TimestampNTZType)(), zone), Literal("2024-02"))
      val found = Predicates.whereTrue(prefix, new OfColumn)
      assert(holds(found, micros(Instant.parse("2024-02-29T23:59:59Z")), TimestampNTZType))
      assert(!holds(found, micros(Instant.parse("2024-03-01T00:00:00Z")), TimestampNTZType))
    }
  }

  test("texts of numbers are asked one by one, as IN of strings does") {
    def of(dataType: DataType, values: Any*): Unit = {
      val leaf = BoundReference(0, dataType, nullable = true)
      assert(check(Cast(leaf, StringType, Some("UTC")), leaf, values, _ => false) > 0, dataType)
    }
    of(ByteType, -128.toByte, -1.toByte, 0.toByte, 5.toByte, 127.toByte)
    of(IntegerType, Int.MinValue, -1, 0, 5, 10, 105, Int.MaxValue)
    of(LongType, Long.MinValue, -1L, 0L, 5L, 9007199254740993L, Long.MaxValue)
    of(DoubleType, Double.NegativeInfinity, -1.5, -0.0, 0.0, 1e300, 5e-324, 0.1, 1e7, Double.NaN)
    of(FloatType, Float.NegativeInfinity, -1.5f, -0.0f, 0.0f, 3.4e38f, 1.4e-45f, 0.1f, 1e7f, Float.NaN)
    Seq(DecimalType(8, 2), DecimalType(38, 10)).foreach { d =>
      of(
        d,
        Seq("-999999.99", "-0.01", "0.00", "0.10", "123.45").map(v =>
          Decimal(BigDecimal(v), d.precision, d.scale)): _*)
    }
    val text = Cast(AttributeReference("i", IntegerType)(), StringType, Some("UTC"))
    def asked(texts: String*) = Predicates.whereTrue(In(text, texts.map(Literal(_))), new OfColumn)
    // no number has the others' texts
    assert(asked("5", "05", " 7", "7.0", "x", "99999999999") == Condition.equal(NormalizedLong(5)))
    assert(asked("x").impossible)
    assert(Predicates.whereTrue(LessThan(text, Literal("5")), new OfColumn) == ConditionAlgebra.Anything)
    assert(Predicates.whereTrue(Not(EqualTo(text, Literal("5"))), new OfColumn) == ConditionAlgebra.Anything)
  }

  test("strings as bytes") {
    val leaf = BoundReference(0, StringType, nullable = true)
    val values = Seq("", "a", "ab", "b", "zz", "\u00e9", "\uffff").map(UTF8String.fromString)
    assert(check(Cast(leaf, BinaryType, Some("UTC")), leaf, values, _ => false) > 0)
  }

  test("wide decimals and intervals, cast to wider ones") {
    val wide = Seq("-99999999999999999999.1234", "-0.0001", "0.0000", "5.5000", "12345678901234567.5000")
    def cast(from: DataType, to: DataType, values: Seq[Any]): Unit = {
      val leaf = BoundReference(0, from, nullable = true)
      assert(check(Cast(leaf, to, Some("UTC")), leaf, values, _ => true) > 0, s"$from $to")
    }
    val twenty = wide.map(v => Decimal(BigDecimal(v), 24, 4))
    Seq(DecimalType(25, 4), DecimalType(30, 10), DecimalType(24, 2), DoubleType)
      .foreach(cast(DecimalType(24, 4), _, twenty))
    cast(
      DecimalType(18, 2),
      DecimalType(20, 4),
      Seq("-5.00", "0.01", "7.25").map(v => Decimal(BigDecimal(v), 18, 2)))
    cast(DecimalType(38, 10), DoubleType, wide.map(v => Decimal(BigDecimal(v), 38, 10)))
    cast(DayTimeIntervalType(0, 0), DayTimeIntervalType(0, 3), Seq(-86400000000L, 0L, 86400000000L * 400))
    cast(YearMonthIntervalType(0, 0), YearMonthIntervalType(0, 1), Seq(-12, 0, 24, 1200))
  }

  test("a cast to fewer digits is NULL for values that it rounds up too far") {
    val leaf = BoundReference(0, DecimalType(5, 2), nullable = true)
    val values = Seq("-999.95", "-999.94", "0.00", "999.94", "999.95").map(v => Decimal(BigDecimal(v), 5, 2))
    val fewer = Cast(leaf, DecimalType(4, 1), Some("UTC"), EvalMode.TRY)
    assert(values.count(v => fewer.eval(InternalRow(v)) == null) == 2)
    val _ = check(fewer, leaf, values, _ => false)
  }

  test("far from hours that come twice nothing is given away") {
    val zone = "Europe/Berlin"
    val leaf = BoundReference(0, TimestampType, nullable = true)
    val summer = (0 until 60).map(i =>
      micros(LocalDate.parse("2024-05-01").plusDays(i.toLong)
        .atStartOfDay(ZoneId.of(zone)).toInstant)).flatMap(m => Seq(m - 1, m, m + 1))
    check(Cast(leaf, DateType, Some(zone)), leaf, summer, _ => true)
    check(TruncTimestamp(Literal("DAY"), leaf, Some(zone)), leaf, summer, _ => true)
  }

  test("functions of dates", SameOnAllLines) {
    val leaf = BoundReference(0, DateType, nullable = true)
    val values = days.flatMap(d => Seq(-400L, -31L, -1L, 0L, 1L, 31L).map(n => (d.toEpochDay + n).toInt)) ++
      Seq(Int.MinValue, Int.MaxValue, 0)
    val functions = Seq("YEAR", "QUARTER", "MM", "WEEK").map(f => TruncDate(leaf, Literal(f))) ++
      Seq(Year(leaf), Cast(leaf, TimestampNTZType, Some("UTC")))
    functions.foreach(check(_, leaf, values.filter(d => math.abs(d.toLong) < 70000000), _ => true))
    // outside of what functions can do, anything may match
    assert(check(Year(leaf), leaf, values, _ => false) > 0)
    zones.foreach { zone =>
      val midnight = Cast(leaf, TimestampType, Some(zone))
      val usual = values.filter(d => math.abs(d.toLong) < 70000000)
      check(midnight, leaf, usual, _ => true)
      check(TruncTimestamp(Literal("MONTH"), midnight, Some(zone)), leaf, usual, _ => false)
    }
  }

  test("casts of numbers to wider types") {
    def of(from: DataType, values: Seq[Any], to: DataType*): Unit = to.foreach { t =>
      val leaf = BoundReference(0, from, nullable = true)
      assert(
        check(Cast(leaf, t, Some("UTC")), leaf, values, v => v != Long.MaxValue && v != Long.MinValue) > 0,
        t)
    }
    val ints = Seq(Int.MinValue, -16777217, -1, 0, 1, 5, 16777216, 16777217, 16777218, Int.MaxValue)
    of(IntegerType, ints, LongType, DoubleType, FloatType, DecimalType(12, 2), DecimalType(30, 5))
    of(ByteType, Seq[Byte](-128, -1, 0, 1, 127), IntegerType, LongType, DoubleType, DecimalType(3, 0))
    val longs =
      Seq(Long.MinValue, -9007199254740993L, -1L, 0L, 9007199254740992L, 9007199254740993L, Long.MaxValue)
    of(LongType, longs, DoubleType, FloatType, DecimalType(19, 0), DecimalType(25, 3))
    val floats = Seq(
      Float.NegativeInfinity,
      -1.5f,
      -0.0f,
      0.0f,
      Float.MinPositiveValue,
      3.4f,
      Float.PositiveInfinity,
      Float.NaN)
    of(FloatType, floats, DoubleType)
    val decimals =
      Seq("-999999.99", "-0.01", "0.00", "0.10", "123.45", "999999.99").map(d => Decimal(BigDecimal(d), 8, 2))
    of(DecimalType(8, 2), decimals, DecimalType(10, 4), DecimalType(30, 2), DoubleType)
  }

  test("what may change the order is no such function") {
    val (i, s, t) = (
      AttributeReference("i", LongType)(),
      AttributeReference("s", StringType)(),
      AttributeReference("t", TimestampType)())
    val date = Cast(TruncTimestamp(Literal("DAY"), t, Some("Europe/Berlin")), DateType, Some("Europe/Berlin"))
    Seq(
      Abs(i),
      Lower(s),
      Cast(s, IntegerType, Some("UTC")),
      Cast(i, IntegerType, Some("UTC")),
      Cast(i, DecimalType(18, 0), Some("UTC")),
      Month(Cast(t, DateType, Some("UTC"))),
      UnaryMinus(i),
      date,
      i).foreach(e => assert(MonotoneFunction.of(e).isEmpty, e.sql))
    // a unit that there is not has no value anywhere
    val nothing = TruncTimestamp(Literal("NOTHING"), t, Some("UTC"))
    assert(
      MonotoneFunction.of(nothing).flatMap(_.where(Condition.IsNotNull)).forall(_ == Condition.IsNotNull))
  }
}

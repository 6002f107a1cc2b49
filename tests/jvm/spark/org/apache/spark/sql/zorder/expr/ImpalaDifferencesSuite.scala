package org.apache.spark.sql.zorder.expr

import java.time.Instant
import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.types._

/** What Impala's tests state and does not hold here: our value, and why. */
class ImpalaDifferencesSuite extends SparkFunSuite with KeyOrder {
  private def day(n: Long): Instant = Instant.ofEpochSecond(n * 86400)

  test("timestamps are microseconds in one number, not a day number over nanoseconds") {
    // a day is 86 400 000 000 us, no power of two: 2 and 1 days differ in bit 37 at most, 4 and 7 days in bit 39
    val impala = Seq((1, 0, 0, 1, 1), (0, 1, 1, 0, -1), (2, 4, 1, 7, 1), (3, 7, 4, 0, -1), (6, 4, 5, 7, 1), (5, 5, 6, 4, -1), (6, 1, 3, 7, 1))
    val ours = impala.map { case (a, b, c, d, _) =>
      order(TimestampType, TimestampType)(day(a.toLong), day(b.toLong))(day(c.toLong), day(d.toLong))
    }
    assert(impala.map(_._5) === Seq(1, -1, 1, -1, 1, -1, 1))
    assert(ours === Seq(1, -1, -1, 1, -1, 1, -1))
  }

  test("timestamps: the sign of the far ends is Impala's") {
    val at = (s: String) => Instant.parse(s + "T00:00:00Z")
    assert(order(TimestampType, TimestampType)(at("1400-01-01"), at("9999-12-31"))(at("8000-12-09"), at("2015-04-09")) === -1)
  }

  test("nanoseconds: Spark's timestamps hold microseconds, so +1 ns is a tie (Impala: 1)") {
    val t = day(16534)
    assert(order(TimestampType, TimestampType)(t.plusNanos(1), t)(t, t.plusNanos(1)) === 0)
    assert(order(TimestampType, TimestampType)(t.plusNanos(1000), t)(t, t.plusNanos(1000)) === 1)
  }

  test("a whole day outweighs BIGINT 32 vs 0 (Impala: the BIGINT decides)") {
    // both are 64-bit numbers here: the day differs in bit 36, the BIGINT in bit 5
    assert(order(LongType, TimestampType)(32L, day(0))(0L, day(1)) === -1)
  }

  test("NULL lies below the minimum of its type (Impala: equal to it)") {
    assert(order(IntegerType, IntegerType)(null, 0)(Int.MinValue, 0) === -1)
    assert(order(LongType)(null)(Long.MinValue) === -1)
    assert(order(StringType)(null)("") === -1)
    assert(order(BooleanType)(null)(false) === -1)
    assert(order(DoubleType)(null)(Double.NegativeInfinity) === -1)
  }

  test("strings tie only when their first 16 bytes agree (Impala: 4 bytes alone, 8 beside a BIGINT)") {
    assert(order(StringType, StringType)("hello1", "hello2")("hello3", "hello4") === -1)
    assert(order(StringType, StringType, LongType)("12345678a", "12345678b", 1L)("12345678c", "12345678d", 1L) === -1)
  }

  test("-0.0 is 0.0 and NaN is greatest (Impala: both are the key of NULL, below -Infinity)") {
    assert(order(DoubleType)(-0.0)(0.0) === 0)
    assert(order(DoubleType)(-0.0)(Double.NegativeInfinity) === 1)
    assert(order(DoubleType)(Double.NaN)(Double.PositiveInfinity) === 1)
  }
}

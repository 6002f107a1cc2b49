package org.apache.spark.sql.zorder.expr

import java.time.{Instant, LocalDateTime}
import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types._
import sparkzorder.curve.{NormalizedBytes, HilbertKey}
import sparkzorder.mark.SameOnAllLines

/** What clusters wrongly in other engines, one test each (Iceberg, Hudi, Paimon, Delta, Impala). */
@SameOnAllLines
class PeerFailuresSuite extends SparkFunSuite with KeyOrder {

  test("adjacent doubles and floats (Iceberg to 1.11, Paimon: low 32 bits scrambled)") {
    for (v <- Seq(1.0, 52.52, 1754000000.0, -1.0, -52.52))
      ascending(DoubleType)(v, Math.nextUp(v), Math.nextUp(Math.nextUp(v)))
    for (v <- Seq(1.0f, 52.52f, -1.0f)) ascending(FloatType)(v, Math.nextUp(v), Math.nextUp(Math.nextUp(v)))
    // epoch seconds of one day share their top bits
    ascending(DoubleType)((0 until 86400 by 977).map(1754000000.0 + _): _*)
  }

  test("-0.0 equals 0.0 (Impala: below -Infinity)") {
    assert(order(DoubleType)(-0.0)(0.0) === 0)
    assert(order(FloatType)(-0.0f)(0.0f) === 0)
  }

  test("NaN is a value of its own, above Infinity, and not NULL (Impala: NaN is NULL)") {
    ascending(DoubleType)(null, Double.NegativeInfinity, -1.0, 0.0, Double.PositiveInfinity, Double.NaN)
    ascending(FloatType)(null, Float.NegativeInfinity, -1.0f, 0.0f, Float.PositiveInfinity, Float.NaN)
  }

  test("NULL, the minimum, '' and FALSE are four things (Impala, Iceberg, Delta: one)") {
    ascending(IntegerType)(null, Int.MinValue, Int.MinValue + 1)
    ascending(LongType)(null, Long.MinValue, Long.MinValue + 1)
    ascending(ByteType)(null, Byte.MinValue, 0.toByte, Byte.MaxValue)
    ascending(ShortType)(null, Short.MinValue, 0.toShort, Short.MaxValue)
    ascending(StringType)(null, "", "a")
    ascending(BinaryType)(null, Array.emptyByteArray, Array[Byte](1), Array[Byte](-1))
    ascending(BooleanType)(null, false, true)
  }

  test("NULL is not the maximum of its type either (Hudi: MAX_VALUE)") {
    assert(order(LongType)(null)(Long.MaxValue) === -1)
    assert(order(IntegerType)(null)(Int.MaxValue) === -1)
  }

  test("a NULL boolean is a row like any other (Iceberg: the whole rewrite fails)") {
    assert(order(BooleanType, IntegerType)(null, 1)(true, 1) === -1)
  }

  test("negative decimals of unlike length, and fractions (Paimon: -1.00 > 100.00; Hudi: fraction dropped)") {
    for (p <- Seq(9, 18, 19, 38)) {
      val t = DecimalType(p, 2)
      ascending(t)((null +: Seq(
        "-99999.99",
        "-256.00",
        "-128.01",
        "-128.00",
        "-1.00",
        "-0.01",
        "0.00",
        "0.01",
        "1.00",
        "1.01",
        "100.00",
        "99999.99").map(Decimal(_))): _*)
    }
  }

  test("'b' comes after 'aa' (Hudi, Paimon: short strings are padded on the left)") {
    ascending(StringType)("", "a", "aa", "aaaaaaaaaaaaaaaa", "ab", "b", "ba", "ż")
  }

  test("DATE, with and without ANSI (Iceberg, Paimon: cast(date as bigint) is NULL)") {
    ascending(DateType)(Seq(
      "0001-01-01",
      "1582-10-04",
      "1969-12-31",
      "1970-01-01",
      "2026-11-21",
      "9999-12-31").map(java.time.LocalDate.parse(_)): _*)
  }

  test("TIMESTAMP to the microsecond (Iceberg, Paimon: seconds; Hudi, Delta: milliseconds)") {
    val t = Instant.parse("2026-11-21T00:00:00Z")
    ascending(TimestampType)(
      Instant.parse("1969-12-31T23:59:59.999999Z"),
      t.plusNanos(1000),
      t.plusNanos(2000),
      t.plusNanos(999999000))
  }

  test("TIMESTAMP_NTZ (Hudi, Paimon until 2026: unsupported)") {
    val t = LocalDateTime.parse("2026-11-21T00:00:00")
    ascending(TimestampNTZType)(
      null,
      LocalDateTime.parse("0001-01-01T00:00:00"),
      t,
      t.plusNanos(1000),
      t.plusDays(1))
  }

  test("values at and above 2^32") {
    ascending(LongType)(
      -(1L << 32) - 1,
      -(1L << 32),
      0L,
      (1L << 32) - 1,
      1L << 32,
      (1L << 32) + 1,
      1L << 62,
      Long.MaxValue)
  }

  test(
    "INT beside BIGINT: both count from their own top bit (delta-rs, Hudi: the INT comes after, or never)") {
    // the sign outweighs everything below it, in either column
    assert(order(IntegerType, LongType)(-1, Long.MaxValue)(0, 0L) === -1)
    assert(order(IntegerType, LongType)(1 << 30, 0L)(0, 1L << 61) === 1)
    assert(order(IntegerType, LongType)(1 << 29, 0L)(0, 1L << 62) === -1)
  }

  private def hilbertKey(types: Seq[DataType], values: Any*): Array[Byte] = {
    val row = RowWords(types)
    val words = row.scratch()
    values.zip(types).zipWithIndex.foreach { case ((v, t), i) =>
      row.put(words, i, Literal.create(v, t).value)
    }
    HilbertKey.key(row.shape, words)
  }

  private def same(a: Array[Byte], b: Array[Byte]): Boolean = NormalizedBytes.compareBytes(a, b) == 0

  test("Hilbert: x and -x are different places, negative values do not wrap, -1 is not NULL (Hudi, Paimon)") {
    for ((t, values) <- Seq[(DataType, Seq[Any])](
        DoubleType -> Seq(-5.0, -1.0, 1.0, 5.0, null),
        LongType -> Seq(-5L, -1L, 1L, 5L, null),
        ByteType -> Seq(-5, -1, 1, 5).map(_.toByte))) {
      val keys = values.map(v => hilbertKey(Seq(t, t), v, v))
      for (i <- keys.indices; j <- keys.indices if i != j)
        assert(!same(keys(i), keys(j)), s"$t ${values(i)} ${values(j)}")
    }
    // the sign is the first bit below the NULL bit: every negative pair lies in one quadrant
    val quadrant = (a: Int, b: Int) => (hilbertKey(Seq(IntegerType, IntegerType), a, b)(0) & 0xff) >>> 4
    assert(quadrant(-1, -1) === quadrant(Int.MinValue, -7))
    assert(Set(quadrant(-1, -1), quadrant(1, -1), quadrant(-1, 1), quadrant(1, 1)).size === 4)
  }

  test("Hilbert: TRUE is not NULL, and a NULL boolean does not fail (Paimon)") {
    val keys = Seq[Any](null, false, true).map(v => hilbertKey(Seq(BooleanType, IntegerType), v, 5))
    assert(!same(keys(0), keys(1)) && !same(keys(1), keys(2)) && !same(keys(0), keys(2)))
  }

  test("Hilbert: 8 and more columns keep all their bits (Hudi, Paimon: cut to 63 bytes)") {
    for (n <- Seq(8, 9, 20, 70)) {
      val types = Seq.fill(n)(LongType)
      val base = hilbertKey(types, Seq.fill(n)(1L): _*)
      assert(base.length === (n * 65 + 7) / 8)
      for (i <- 0 until n) assert(
        !same(base, hilbertKey(types, Seq.tabulate(n)(j => if (j == i) 0L else 1L): _*)),
        s"column $i of $n")
    }
  }
}

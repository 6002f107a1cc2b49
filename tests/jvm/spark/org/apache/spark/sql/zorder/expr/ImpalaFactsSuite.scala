package org.apache.spark.sql.zorder.expr

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.types._

/** The order facts that Impala's own tests state, with the rows (a, b) and (c, d): those that hold here. */
class ImpalaFactsSuite extends SparkFunSuite with KeyOrder {
  private val shared = Seq(
    (0, 0, 0, 0, 0), (-5, 3, -5, 3, 0), (1, 0, 0, 1, 1), (0, 1, 1, 0, -1), (2, 4, 1, 7, 1), (3, 7, 4, 0, -1),
    (6, 4, 5, 7, 1), (5, 5, 6, 4, -1), (6, 1, 3, 7, 1))

  private def integers(t: DataType, max: Long)(as: Long => Any): Unit = {
    def check(a: Long, b: Long, c: Long, d: Long, sign: Int): Unit =
      assert(order(t, t)(as(a), as(b))(as(c), as(d)) === sign, s"$t ($a, $b) ($c, $d)")
    shared.foreach { case (a, b, c, d, sign) => check(a, b, c, d, sign) }
    check(max / 2 + 2, 1, 1, max, 1)
    check(max / 2, 1, 1, max, -1)
    assert(order(t, t)(null, as(1))(as(1), as(1)) === -1)
    assert(order(t, t)(null, as(0))(as(0), as(1)) === -1)
  }

  test("integers of every width, NULL below a value") {
    integers(ByteType, Byte.MaxValue)(_.toByte)
    integers(ShortType, Short.MaxValue)(_.toShort)
    integers(IntegerType, Int.MaxValue)(_.toInt)
    integers(LongType, Long.MaxValue)(identity)
  }

  test("dates, which Impala's DateTest never reached") {
    shared.foreach { case (a, b, c, d, sign) =>
      def day(n: Int) = java.sql.Date.valueOf(java.time.LocalDate.ofEpochDay(n.toLong))
      assert(order(DateType, DateType)(day(a), day(b))(day(c), day(d)) === sign)
    }
  }

  private val floating = Seq(
    (1, 0, 0, 1, 1), (0, 1, 1, 0, -1), (4, 3, 3, 4, 1), (5, 7, 4, 10, -1), (6, 10, 7, 3, 1), (9, 7, 8, 10, -1),
    (8, 8, 9, 7, 1), (9, 4, 6, 10, 1), (-4, -3, -3, -4, -1), (-5, -7, -4, -10, 1), (-6, -10, -7, -3, -1),
    (-9, -7, -8, -10, 1), (-8, -8, -9, -7, -1), (-9, -4, -6, -10, -1))

  test("float and double") {
    floating.foreach { case (a, b, c, d, sign) =>
      assert(order(FloatType, FloatType)(a.toFloat, b.toFloat)(c.toFloat, d.toFloat) === sign, s"($a, $b) ($c, $d)")
      assert(order(DoubleType, DoubleType)(a.toDouble, b.toDouble)(c.toDouble, d.toDouble) === sign)
    }
    assert(order(FloatType, FloatType)(Float.MaxValue / 2 + 2, 1f)(1f, Float.MaxValue) === 1)
    assert(order(DoubleType, DoubleType)(Double.MaxValue / 2 + 2, 1d)(1d, Double.MaxValue) === 1)
  }

  test("boolean") {
    val (t, f) = (true, false)
    Seq((t, f, t, f, 0), (f, t, f, t, 0), (t, t, t, f, 1), (f, t, t, t, -1), (f, t, f, f, 1), (f, f, f, t, -1), (t, f, f, f, 1))
      .foreach { case (a, b, c, d, sign) => assert(order(BooleanType, BooleanType)(a, b)(c, d) === sign) }
  }

  test("char: values of equal length, blanks included") {
    Seq(("h", "z", "z", "h", -1), ("a", "0", "h", "0", -1), ("!", "{", "0", "K", 1), ("A", "~", "B", "Z", 1),
      ("aaa", "aa0", "aah", "aa0", -1), ("aah", "aaz", "aaz", "aah", -1), ("aa!", "aa{", "aa0", "aaK", 1),
      ("aaA", "aa~", "aaB", "aaZ", 1)).foreach { case (a, b, c, d, sign) =>
      assert(order(StringType, StringType)(a, b)(c, d) === sign, s"($a, $b) ($c, $d)")
    }
  }

  test("string at width 16") {
    Seq(("2", "h", "2", "h2", -1), ("", "h", "", "", 1), ("ab", "cd", "aw", "ca", -1), ("ab", "yd", "ac", "ca", 1),
      ("zz", "ydz", "a", "caaa", 1), ("aa", "bbbbbbbb", "aa", "bbbbbbba", 1),
      ("12345678a", "12345678b", "12345678c", "12345678d", -1),
      ("1234567890abcdefA", "1234567890abcdefA", "1234567890abcdefB", "1234567890abcdefC", 0))
      .foreach { case (a, b, c, d, sign) => assert(order(StringType, StringType)(a, b)(c, d) === sign, s"($a, $b) ($c, $d)") }
  }

  test("decimal of equal scale, in 4, 8 and 16 bytes") {
    for (p <- Seq(9, 18, 38)) {
      val t = DecimalType(p, 0)
      Seq((1, 0, 0, 1, 1), (256, 10, 255, 100, 1), (3, 1024, 128, 1023, 1), (1024, 511, 1023, 0, 1), (5550, 0, 5000, 4097, -1))
        .foreach { case (a, b, c, d, sign) => assert(order(t, t)(Decimal(a), Decimal(b))(Decimal(c), Decimal(d)) === sign, s"$p") }
    }
  }

  test("mixed types: a small integer or a truth value outweighs what lies inside one day") {
    val noon = java.time.Instant.parse("2015-04-09T12:00:00Z")
    val types = Seq(ByteType, TimestampType)
    assert(order(types: _*)(1.toByte, noon.plusNanos(2000))(1.toByte, noon.plusNanos(1000)) === 1)
    assert(order(types: _*)(1.toByte, noon.plusNanos(2000))(42.toByte, noon.plusNanos(1000)) === -1)
    val day = java.time.Instant.parse("2015-04-09T00:00:00Z")
    assert(order(BooleanType, TimestampType)(true, day)(false, day.plusMillis(86399999)) === 1)
  }
}

package org.apache.spark.sql.zorder.skipping.predicate

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.expr.Normalization
import sparkzorder.curve.{NormalizedBytes, NormalizedLong}
import sparkzorder.mark.SameOnAllLines

/** Values as text and back, for every type and its edges. */
@SameOnAllLines
class ValueTextSuite extends AnyFunSuite with ZOrderSession {

  private def roundTrip(dataType: DataType, value: Any): String = {
    val normalized = Normalization.of(dataType).get.normalize(value)
    val text = ValueText.of(normalized, dataType)
    assert(text.flatMap(ValueText.normalize(_, dataType)) === Some(normalized), s"$dataType $value $text")
    text.get
  }

  private def edges(dataType: DataType, texts: String*): Unit = texts.foreach { t =>
    val value = Cast(Literal(t), dataType, Some("UTC"), EvalMode.ANSI).eval()
    assert(roundTrip(dataType, value) === t, s"$dataType")
  }

  test("numbers") {
    edges(BooleanType, "true", "false")
    edges(ByteType, "-128", "0", "127")
    edges(ShortType, "-32768", "32767")
    edges(IntegerType, "-2147483648", "2147483647")
    edges(LongType, "-9223372036854775808", "9223372036854775807")
    edges(FloatType, "-Infinity", "-3.4028235E38", "1.4E-45", "0.1", "NaN", "Infinity")
    edges(DoubleType, "-Infinity", "4.9E-324", "0.1", "1.7976931348623157E308", "NaN")
    assert(roundTrip(DoubleType, -0.0) === "0.0")
    edges(DecimalType(5, 2), "-999.99", "0.00", "999.99")
    edges(DecimalType(18, 0), "999999999999999999", "-999999999999999999")
    edges(DecimalType(38, 10), "-9999999999999999999999999999.9999999999", "0.0000000001")
  }

  test("times") {
    edges(DateType, "0001-01-01", "1969-12-31", "9999-12-31")
    edges(TimestampType, "0001-01-01 00:00:00", "1969-12-31 23:59:59.999999", "9999-12-31 23:59:59.999999")
    edges(TimestampNTZType, "0001-01-01 00:00:00", "2024-02-29 12:00:00.5")
    roundTrip(DayTimeIntervalType(), 93784000001L)
    roundTrip(YearMonthIntervalType(), -13)
  }

  test("strings and bytes") {
    val strings = Seq("", " a b ", "it's", "\u0000", "\u00e9\ud83d\ude00", "null").map(
      org.apache.spark.unsafe.types.UTF8String.fromString)
    strings.foreach(s => assert(roundTrip(StringType, s) === s.toString))
    assert(roundTrip(BinaryType, Array[Byte](0, -1, 16)) === "00FF10")
    assert(ValueText.normalize("0", BinaryType).isEmpty && ValueText.normalize("zz", BinaryType).isEmpty)
  }

  test("what is no value has no word, what has no text none") {
    assert(ValueText.normalize("five", IntegerType).isEmpty)
    assert(ValueText.normalize("300", ByteType).isEmpty)
    // of a file whose writer did not keep to its schema
    assert(ValueText.value(NormalizedLong(1000), DecimalType(3, 1)).isEmpty)
    assert(ValueText.value(NormalizedLong(999), DecimalType(3, 1)).contains(Decimal("99.9")))
    assert(ValueText.normalize(null, IntegerType).isEmpty)
    assert(ValueText.of(NormalizedBytes(Array[Byte](-1)), StringType).isEmpty)
  }

  test("every edge of every type stays or is left open, never narrower") {
    Seq(TimestampType, TimestampNTZType, DateType).foreach { t =>
      Seq(Long.MinValue, Long.MaxValue, Int.MinValue.toLong, Int.MaxValue.toLong)
        .filter(v => t != DateType || v.toInt == v).foreach { v =>
          ValueText.of(NormalizedLong(v), t).foreach(text =>
            assert(ValueText.normalize(text, t) === Some(NormalizedLong(v))))
        }
    }
  }

  test("neighbours") {
    def bytes(s: String) = NormalizedBytes(s.getBytes("UTF-8"))
    assert(AdjacentValues.above(NormalizedLong(127), ByteType).isEmpty)
    assert(AdjacentValues.below(NormalizedLong(-128), ByteType).isEmpty)
    assert(AdjacentValues.below(NormalizedLong(5), IntegerType) === Some(NormalizedLong(4)))
    assert(AdjacentValues.below(bytes(""), StringType).isEmpty)
    val below = AdjacentValues.below(bytes("ab"), StringType).get
    assert(Seq("", "a", "aa", "aazz", "aa\u00ff").forall(s => bytes(s) < below) && below < bytes("ab"))
    assert(AdjacentValues.above(bytes("ab"), StringType).exists(w =>
      bytes("ab") < w && w < bytes("ab\u0001")))
    // files may hold strings that are no UTF-8: no number of bytes is enough to reach above them all
    val high = NormalizedBytes("aa".getBytes ++ Array.fill(2000)(-1.toByte))
    assert(high < below && below < bytes("ab") && high.compare(below) === -below.compare(high))
    assert(AdjacentValues.below(bytes("ab"), BinaryType) === Some(below))
    assert(AdjacentValues.below(bytes("ab\u0000"), StringType) === Some(bytes("ab")))
    def after(prefix: Int*) =
      AdjacentValues.afterPrefix(prefix.map(_.toByte).toArray).map(_.map(_ & 0xff).toSeq)
    assert(after('a', 'b') === Some(Seq('a'.toInt, 'c'.toInt)))
    assert(after('a', 0x7f) === Some(Seq('a'.toInt, 0x80)) && after('a', 0xff, 0xff) === Some(Seq('b'.toInt)))
    assert(after(0xff, 0xff).isEmpty && after().isEmpty)
    val wide = DecimalType(38, 0)
    val one = Normalization.of(wide).get.normalize(Decimal(1))
    val zero = Normalization.of(wide).get.normalize(Decimal(0))
    assert(AdjacentValues.below(one, wide) === Some(zero))
  }
}

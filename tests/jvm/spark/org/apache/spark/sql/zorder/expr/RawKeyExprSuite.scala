package org.apache.spark.sql.zorder.expr

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.{BoundReference, Expression, ExpressionEvalHelper, Literal}
import org.apache.spark.sql.types._
import org.scalatest.Tag
import sparkzorder.SameOnAllLines

/** zorder and hilbert, interpreted and generated, as literals and from a row, for every type. */
class RawKeyExprSuite extends SparkFunSuite with ExpressionEvalHelper {

  /** For each type: values in ascending order, as `Literal.create` takes them. */
  private val values: Seq[(DataType, Seq[Any])] = Seq(
    BooleanType -> Seq(false, true),
    ByteType -> Seq[Byte](Byte.MinValue, -1, 0, 1, Byte.MaxValue),
    ShortType -> Seq[Short](Short.MinValue, -1, 0, 1, Short.MaxValue),
    IntegerType -> Seq(Int.MinValue, Int.MinValue + 1, -1, 0, 1, Int.MaxValue),
    LongType -> Seq(Long.MinValue, -(1L << 32), -1L, 0L, 1L, 1L << 32, Long.MaxValue),
    FloatType -> Seq(
      Float.NegativeInfinity,
      -1f,
      -Float.MinPositiveValue,
      -0.0f,
      Float.MinPositiveValue,
      1f,
      Math.nextUp(1f),
      Float.PositiveInfinity,
      Float.NaN),
    DoubleType -> Seq(
      Double.NegativeInfinity,
      -1d,
      -Double.MinPositiveValue,
      -0.0d,
      Double.MinPositiveValue,
      1d,
      Math.nextUp(1d),
      Double.PositiveInfinity,
      Double.NaN),
    DecimalType(9, 2) -> Seq("-9999999.99", "-1.00", "0.00", "100.00").map(Decimal(_)),
    DecimalType(18, 0) -> Seq("-999999999999999999", "-1", "0", "256").map(Decimal(_)),
    DecimalType(38, 18) -> Seq(
      "-12345678901234567890.5",
      "-1.5",
      "0",
      "0.000000000000000001",
      "99999999999999999999").map(Decimal(_)),
    StringType -> Seq("", "a", "aa", "b", "ż", "żżżżżżżżżż"),
    BinaryType -> Seq(Array.emptyByteArray, Array[Byte](1), Array.fill[Byte](20)(-1)),
    DateType -> Seq(-719162, -1, 0, 20000, 2932896).map(d => java.time.LocalDate.ofEpochDay(d.toLong)),
    TimestampType -> Seq(-1L, 0L, 1L).map(us => java.time.Instant.ofEpochSecond(0, us * 1000)),
    TimestampNTZType -> Seq(-1L, 0L, 1L).map(us =>
      java.time.LocalDateTime.parse("1970-01-01T00:00:00").plusNanos(us * 1000)),
    DayTimeIntervalType() -> Seq(-1L, 0L, 1L).map(us => java.time.Duration.ofNanos(us * 1000)),
    YearMonthIntervalType() -> Seq(-14, 0, 14).map(java.time.Period.ofMonths(_))
  )

  private def key(e: RawKey, row: InternalRow = InternalRow.empty): Array[Byte] =
    e.eval(row).asInstanceOf[Array[Byte]]

  private def hex(bytes: Array[Byte]): String = bytes.map(b => f"${b & 0xff}%02x").mkString

  private def functions(args: Seq[Expression]): Seq[RawKey] = Seq(ZOrder(args), HilbertOrder(args))

  for ((dataType, ascending) <- values)
    test(s"${dataType.sql}: one argument is its ordered word, NULL lowest") {
      val literals = (null +: ascending).map(Literal.create(_, dataType))
      val keys = literals.map(l => hex(key(ZOrder(Seq(l)))))
      assert(keys === keys.sorted && keys.distinct === keys)
      assert(keys.map(_.length).distinct.length === 1, "the length depends on the type only")
      assert(keys.head === "0" * keys.head.length)
      for ((literal, expected) <- literals.zip(keys)) {
        assert(hex(key(HilbertOrder(Seq(literal)))) === expected)
        val bytes = expected.grouped(2).map(Integer.parseInt(_, 16).toByte).toArray
        checkEvaluation(ZOrder(Seq(literal)), bytes)
        checkEvaluation(
          ZOrder(Seq(BoundReference(0, dataType, nullable = true))),
          bytes,
          InternalRow(literal.value))
      }
    }

  /** The code is the same on all lines: for one type of each kind of word it is compiled on every line. */
  private def once(dataType: DataType): Seq[Tag] =
    if (Set[DataType](IntegerType, StringType, DecimalType(38, 18))(dataType)) Nil else Seq(SameOnAllLines)

  for ((dataType, ascending) <- values)
    test(s"${dataType.sql} beside others: generated code says what eval says", once(dataType): _*) {
      val other = Seq[Literal](
        Literal.create(null, IntegerType),
        Literal(-7L),
        Literal.create("ab", StringType),
        Literal(true))
      for (v <- null +: ascending; n <- 1 to other.length) {
        val literal = Literal.create(v, dataType)
        for (f <- functions(literal +: other.take(n))) checkEvaluation(f, key(f))
        val columns = (literal +: other.take(n)).zipWithIndex.map { case (l, i) =>
          BoundReference(i, l.dataType, l.nullable)
        }
        val row = InternalRow.fromSeq((literal +: other.take(n)).map(_.value))
        for (f <- functions(columns)) checkEvaluation(f, key(f, row), row)
      }
    }

  test("never NULL, BINARY, foldable with its arguments, named as in SQL") {
    for (f <- functions(Seq(Literal.create(null, IntegerType)))) {
      assert(!f.nullable && f.dataType === BinaryType && f.foldable && f.deterministic)
      assert(Set("zorder(CAST(NULL AS INT))", "hilbert(CAST(NULL AS INT))").contains(f.sql))
    }
    for (f <- functions(Seq(BoundReference(0, IntegerType, nullable = true)))) assert(!f.foldable)
  }

  test("the key of a nullable column is that of one that is not") {
    val row = InternalRow(5, 6)
    for (f <- Seq[Seq[Expression] => RawKey](ZOrder(_), HilbertOrder(_))) {
      def of(nullable: Boolean): String =
        hex(key(
          f(Seq(BoundReference(0, IntegerType, nullable), BoundReference(1, IntegerType, nullable))),
          row))
      assert(of(nullable = true) === of(nullable = false))
    }
  }

  test("a hundred and fifty columns of mixed types compile and give the interpreted key") {
    val types = Seq(IntegerType, StringType, LongType, DecimalType(38, 2), BooleanType, DoubleType)
    val row = InternalRow.fromSeq((0 until 150).map { i =>
      if (i % 7 == 0) null else Literal.default(types(i % types.length)).value
    })
    val columns = (0 until 150).map(i => BoundReference(i, types(i % types.length), nullable = true))
    for (f <- functions(columns)) checkEvaluation(f, key(f, row), row)
  }

  test("one instance evaluated for many rows, NULL after a value, keeps nothing of the row before") {
    def columns =
      Seq(BoundReference(0, LongType, nullable = true), BoundReference(1, StringType, nullable = true))
    val rows = Seq(
      InternalRow(-1L, Literal("zzzzzzzzzzzzzzzz").value),
      InternalRow(null, null),
      InternalRow(1L, Literal("").value))
    for (make <- Seq[() => RawKey](() => ZOrder(columns), () => HilbertOrder(columns))) {
      val one = make()
      assert(rows.map(r => hex(key(one, r))) === rows.map(r => hex(key(make(), r))))
    }
  }
}

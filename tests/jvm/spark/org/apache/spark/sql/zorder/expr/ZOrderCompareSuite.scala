package org.apache.spark.sql.zorder.expr

import org.apache.spark.SparkFunSuite
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.analysis.TypeCheckResult.TypeCheckFailure
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.codegen.CodegenContext
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types._
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.SameOnAllLines
import sparkzorder.curve.NormalizedBytes
import scala.util.Random

/** The comparison of two structs: the sign of their keys, NULLs, types, and no struct on the way. */
class ZOrderCompareSuite extends SparkFunSuite with ExpressionEvalHelper {
  private def struct(values: Expression*): Expression = CreateStruct(values)

  private def int(v: Integer): Literal = Literal.create(v, IntegerType)

  private def refused(e: ZOrderCompare): String = e.checkInputDataTypes() match {
    case TypeCheckFailure(message) => message
    case other => fail(s"not refused: $other")
  }

  test("literals: Impala's signs, as struct(...) and as struct values", SameOnAllLines) {
    for ((a, b, c, d, sign) <- Seq[(Integer, Integer, Integer, Integer, Int)](
        (2, 4, 1, 7, 1),
        (3, 7, 4, 0, -1),
        (5, 5, 5, 5, 0),
        (null, 0, Int.MinValue, 0, -1),
        (null, null, null, null, 0))) {
      val (l, r) = (struct(int(a), int(b)), struct(int(c), int(d)))
      checkEvaluation(ZOrderCompare(l, r), sign)
      val t = new StructType().add("x", IntegerType).add("y", IntegerType)
      val row = InternalRow(InternalRow(a, b), InternalRow(c, d))
      val (x, y) = (BoundReference(0, t, nullable = true), BoundReference(1, t, nullable = true))
      checkEvaluation(ZOrderCompare(x, y), sign, row)
      checkEvaluation(ZOrderCompare(l, y), sign, row)
      checkEvaluation(ZOrderCompare(x, r), sign, row)
    }
  }

  test("a NULL struct gives NULL, a NULL field does not") {
    val t = new StructType().add("x", IntegerType)
    val (x, y) = (BoundReference(0, t, nullable = true), BoundReference(1, t, nullable = true))
    checkEvaluation(ZOrderCompare(x, y), null, InternalRow(null, InternalRow(1)))
    checkEvaluation(ZOrderCompare(x, y), null, InternalRow(InternalRow(1), null))
    checkEvaluation(ZOrderCompare(x, y), null, InternalRow(null, null))
    checkEvaluation(ZOrderCompare(x, y), -1, InternalRow(InternalRow(null), InternalRow(1)))
    checkEvaluation(ZOrderCompare(Literal.create(null, t), struct(int(1))), null)
  }

  test("the sign is that of the keys, on random rows of mixed types") {
    val types = Seq(IntegerType, LongType, StringType, DoubleType, DecimalType(20, 2), BooleanType)
    val t = StructType(types.zipWithIndex.map { case (f, i) => StructField(s"f$i", f) })
    val random = new Random(11)
    def value(dataType: DataType): Any = if (random.nextInt(5) == 0) null
    else dataType match {
      case IntegerType => random.nextInt(4) - 2
      case LongType => random.nextLong()
      case StringType => UTF8String.fromString("ab".take(random.nextInt(3)) + "c" * random.nextInt(18))
      case DoubleType => random.nextGaussian()
      case _: DecimalType => Decimal(BigDecimal(random.nextInt()), 20, 2)
      case _ => random.nextBoolean()
    }
    def refs(ordinal: Int) =
      types.indices.map(i => GetStructField(BoundReference(ordinal, t, nullable = true), i))
    for (_ <- 0 until 40) {
      val row = InternalRow(InternalRow.fromSeq(types.map(value)), InternalRow.fromSeq(types.map(value)))
      def key(ordinal: Int): Array[Byte] = ZOrder(refs(ordinal)).eval(row).asInstanceOf[Array[Byte]]
      val expected = Integer.signum(NormalizedBytes.compareBytes(key(0), key(1)))
      checkEvaluation(
        ZOrderCompare(BoundReference(0, t, nullable = true), BoundReference(1, t, nullable = true)),
        expected,
        row)
      checkEvaluation(ZOrderCompare(CreateStruct(refs(0)), CreateStruct(refs(1))), expected, row)
    }
  }

  test("types are brought together position by position, names do not matter") {
    // -1 of a BIGINT is below 0 of an INT only once both are BIGINT
    checkEvaluation(ZOrderCompare(struct(Literal(-1L)), struct(int(0))), -1)
    checkEvaluation(ZOrderCompare(struct(int(3)), struct(Literal(3L))), 0)
    checkEvaluation(
      ZOrderCompare(struct(Literal(2.toByte), Literal(1.5f)), struct(int(2), Literal(1.25d))),
      1)
    checkEvaluation(ZOrderCompare(struct(Literal(Decimal("1.10"))), struct(Literal(Decimal("1.1")))), 0)
    checkEvaluation(ZOrderCompare(struct(Literal(null)), struct(int(0))), -1)
    val (s, t) = (new StructType().add("a", IntegerType), new StructType().add("b", LongType))
    checkEvaluation(
      ZOrderCompare(BoundReference(0, s, nullable = true), BoundReference(1, t, nullable = true)),
      -1,
      InternalRow(InternalRow(5), InternalRow(6L)))
  }

  test("coercion follows the ANSI switch: INT beside STRING") {
    def e = ZOrderCompare(struct(int(10)), struct(Literal("9")))
    withConf("false")(checkEvaluation(e, -1)) // as strings
    withConf("true")(assert(e.checkInputDataTypes().isSuccess))
    withConf("true")(checkEvaluation(e, 1)) // as numbers
  }

  /** A copy with other children, as Spark makes of an expression inside a view. */
  private def copied(e: ZOrderCompare, left: Expression, right: Expression): ZOrderCompare =
    e.withNewChildren(Seq(left, right)).asInstanceOf[ZOrderCompare]

  private def fieldType(e: ZOrderCompare): DataType = e.replacement match {
    case CompareByMsd(left, _) => left.dataType.asInstanceOf[StructType].head.dataType
    case other => fail(s"not a comparison: $other")
  }

  test("a copy keeps the ANSI switch of the session that made it, as the copy of a view needs it") {
    withConf("false") {
      val made = ZOrderCompare(struct(int(10)), struct(Literal("9")))
      assert(fieldType(made) === StringType)
      withConf("true") {
        val copy = copied(made, struct(int(100)), struct(Literal("9")))
        assert(copy.checkInputDataTypes().isSuccess && fieldType(copy) === StringType)
        checkEvaluation(made, -1)
        checkEvaluation(copy, -1)
        // what is made now is another expression
        val now = ZOrderCompare(struct(int(100)), struct(Literal("9")))
        checkEvaluation(now, 1)
        assert(!copy.semanticEquals(now) && copy != now)
        assert(copy.sql === now.sql && copy.toString === now.toString)
      }
    }
  }

  test("a copy keeps the time zone of the session that made it, too") {
    def day(n: Int) = struct(Literal(n, DateType))
    def midnight(n: Int) = struct(Literal(n * 86400L * 1000000L, TimestampType))
    withZone("UTC") {
      val made = ZOrderCompare(day(18262), midnight(18262))
      withZone("America/Los_Angeles") {
        checkEvaluation(copied(made, day(18263), midnight(18263)), 0)
        checkEvaluation(ZOrderCompare(day(18263), midnight(18263)), 1)
      }
    }
  }

  test("fields of structs that are never NULL are brought together where Spark's cast may give NULL") {
    def ref(ordinal: Int, dataType: DataType) = BoundReference(
      ordinal,
      new StructType().add("f", dataType, nullable = false),
      nullable = true)
    val dayMicros = 86400L * 1000000L
    for (ansi <- Seq("false", "true"))
      withConf(ansi) {
        checkEvaluation(
          ZOrderCompare(ref(0, DateType), ref(1, TimestampNTZType)),
          -1,
          InternalRow(InternalRow(18262), InternalRow(18263L * dayMicros)))
        checkEvaluation(
          ZOrderCompare(ref(0, DecimalType(38, 0)), ref(1, DecimalType(38, 10))),
          -1,
          InternalRow(
            InternalRow(Decimal(BigDecimal(1), 38, 0)),
            InternalRow(Decimal(BigDecimal(2), 38, 10))))
      }
  }

  test("what cannot be compared is refused in one sentence") {
    assert(refused(ZOrderCompare(
      struct(int(1)),
      int(1))) === "zorder_compare compares two structs, and 1 is of type INT: write struct(...).")
    assert(refused(ZOrderCompare(struct(int(1)), struct(int(1), int(2)))).contains("same number of fields"))
    assert(refused(ZOrderCompare(struct(), struct())).contains("at least one field"))
    assert(refused(ZOrderCompare(
      struct(Literal(true)),
      struct(Literal(java.sql.Date.valueOf("2026-01-01"))))).contains("no common type"))
    assert(refused(ZOrderCompare(
      struct(Literal(null)),
      struct(Literal(null)))).contains("write cast(NULL AS <type>)"))
    val array = Literal.create(Seq(1), ArrayType(IntegerType))
    assert(refused(ZOrderCompare(struct(array), struct(array))).contains("cannot order field"))
  }

  test("struct(...) is not built: no row is made in the generated code") {
    val refs = (0 to 3).map(i => BoundReference(i, IntegerType, nullable = true))
    def code(e: ZOrderCompare): String = {
      val context = new CodegenContext
      val value = e.replacement.genCode(context)
      value.code.toString + context.declareAddedFunctions()
    }
    assert(!code(ZOrderCompare(
      struct(refs(0), refs(1)),
      struct(refs(2), refs(3)))).contains("GenericInternalRow"))
    // nor where a cast is needed
    val wide = BoundReference(2, LongType, nullable = true)
    assert(!code(ZOrderCompare(
      struct(refs(0), refs(1)),
      struct(wide, refs(3)))).contains("GenericInternalRow"))
  }

  test("a side that is not struct(...) is evaluated once") {
    val t = new StructType().add("x", IntegerType).add("y", IntegerType)
    val context = new CodegenContext
    val side = BoundReference(0, t, nullable = true)
    val code = CompareByMsd(side, struct(int(1), int(2))).genCode(context).code.toString
    assert("getStruct".r.findAllIn(code).length === 1)
  }

  test("eighty fields compile") {
    val left = (0 until 80).map(i => BoundReference(i, LongType, nullable = true))
    val row = InternalRow.fromSeq((0 until 80).map(_.toLong))
    checkEvaluation(ZOrderCompare(CreateStruct(left), CreateStruct(left.reverse)), -1, row)
  }

  private def withConf(ansi: String)(body: => Unit): Unit = withSetting(SQLConf.ANSI_ENABLED.key, ansi)(body)

  private def withZone(zone: String)(body: => Unit): Unit =
    withSetting(SQLConf.SESSION_LOCAL_TIMEZONE.key, zone)(body)

  private def withSetting(key: String, value: String)(body: => Unit): Unit = {
    val before = SQLConf.get.getConfString(key)
    SQLConf.get.setConfString(key, value)
    try body
    finally SQLConf.get.setConfString(key, before)
  }
}

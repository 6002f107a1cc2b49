package org.apache.spark.sql.zorder.expr.layout

import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.{Descending, SortOrder}
import org.apache.spark.sql.catalyst.plans.logical.{Filter, LogicalPlan, Sort}
import org.apache.spark.sql.functions.{col, struct, udf}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.ZOrderSession
import org.apache.spark.sql.zorder.shims.Shims

/** Rows are taken out as often as they are to be, and by their bytes. */
class StaysWithoutSuite extends AnyFunSuite with ZOrderSession {

  /** What stays of `rows` in one task, in their order. */
  private def without(schema: StructType, rows: Seq[Row], taken: Seq[Row]): Seq[Row] = {
    val all = (rows.map(false -> _) ++ taken.map(true -> _)).map { case (t, r) => Row.fromSeq(t +: r.toSeq) }
    val session = Shims.classic(spark)
    val marked = StructType(StructField("taken", BooleanType, nullable = false) +: schema)
    staying(
      session.createDataFrame(spark.sparkContext.parallelize(all, 1), marked).queryExecution.analyzed)
  }

  /** @param plan one task, whose first column says which rows to take out */
  private def staying(plan: LogicalPlan): Seq[Row] = {
    val (flag, columns) = (plan.output.head, plan.output.tail)
    val first = Sort(Seq(SortOrder(flag, Descending)), global = false, plan)
    Shims.ofRows(Shims.classic(spark), Filter(StaysWithout(flag, columns), first)).collect().toSeq
      .map(r => Row.fromSeq(r.toSeq.tail))
  }

  test("each row to take out takes one equal row") {
    val schema = new StructType().add("a", IntegerType).add("s", StringType)
    val rows = Seq(Row(1, "x"), Row(1, "x"), Row(2, "y"), Row(1, "x"), Row(null, "x"), Row(null, null))
    assert(without(schema, rows, Nil) === rows)
    assert(without(schema, rows, Seq(Row(1, "x"))) === rows.tail)
    assert(without(schema, rows, Seq(Row(1, "x"), Row(null, null), Row(1, "x"))) === rows.slice(2, 5))
    // what is not there takes nothing
    assert(without(schema, rows, Seq(Row(1, null), Row(0, "x"), Row(1, "X"))) === rows)
    assert(without(schema, rows, Seq.fill(5)(Row(1, "x"))) === Seq(rows(2), rows(4), rows(5)))
  }

  test("-0.0 by its bits, strings by their bytes, nested values too") {
    val inner = new StructType().add("d", DoubleType).add("f", ArrayType(FloatType))
    val schema = new StructType().add("d", DoubleType).add("n", inner).add("b", BinaryType)
      .add("x", DecimalType(30, 2))
    def row(d: Any, n: Any = null, b: Array[Byte] = null, x: String = null): Row =
      Row(d, n, b, if (x == null) null else new java.math.BigDecimal(x))
    def bits(r: Row): String = r.toSeq.map {
      case d: Double => java.lang.Double.doubleToRawLongBits(d).toHexString
      case b: Array[Byte] => b.mkString(" ")
      case n: Row => n.toSeq.map {
          case all: scala.collection.Seq[_] => all.mkString(" ")
          case other => String.valueOf(other)
        }.mkString("{", ",", "}")
      case other => String.valueOf(other)
    }.mkString("|")
    def check(rows: Seq[Row], taken: Row, left: Int*): Unit =
      assert(without(schema, rows, Seq(taken)).map(bits) === left.map(i => bits(rows(i))))
    check(Seq(row(0.0), row(-0.0)), row(-0.0), 0)
    check(Seq(row(Double.NaN), row(1.0), row(Double.NaN)), row(Double.NaN), 1, 2)
    val nested =
      Seq(row(1.0, Row(0.0, Seq(0f, -0f))), row(1.0, Row(0.0, Seq(-0f, 0f))), row(1.0, Row(null, null)))
    check(nested, row(1.0, Row(0.0, Seq(-0f, 0f))), 0, 2)
    check(nested :+ row(1.0), row(1.0, Row(null, null)), 0, 1, 3)
    check(
      Seq(row(1.0, b = Array[Byte](1)), row(1.0, b = Array[Byte](1, 0))),
      row(1.0, b = Array[Byte](1, 0)),
      0)
    check(Seq(row(1.0, x = "1.00"), row(1.0, x = "-12345678901234567890.25")), row(1.0, x = "1.0"), 1)
  }
  test("NaN whatever its bits are, in structs and arrays too") {
    // made in the plan: to be sent to a task, they would lose their bits
    val double = udf((bits: Long) => java.lang.Double.longBitsToDouble(bits))
    val floats = udf((bits: Int) => Seq(java.lang.Float.intBitsToFloat(bits)))
    val one = java.lang.Double.doubleToRawLongBits(1.0)
    val rows = Seq(
      (false, 0xfff8000000000000L, 0x7fc00000),
      (false, one, 0xffc00000),
      (false, one, 0),
      (true, 0x7ff8000000000000L, 0xffc00000),
      (true, one, 0x7fc00000))
    val df = Shims.classic(spark).createDataFrame(rows).coalesce(1)
    val nested = struct(double(col("_2")).as("d"), floats(col("_3")).as("f"))
    val plan = df.select(col("_1"), double(col("_2")).as("d"), floats(col("_3")).as("f"), nested.as("n"))
      .queryExecution.analyzed
    assert(staying(plan).map(r => (r.getDouble(0), r.getSeq[Float](1))) === Seq((1.0, Seq(0f))))
  }
}

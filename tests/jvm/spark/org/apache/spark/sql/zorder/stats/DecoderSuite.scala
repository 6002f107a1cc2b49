package org.apache.spark.sql.zorder.stats

import java.nio.{ByteBuffer, ByteOrder}

import org.apache.parquet.schema.{LogicalTypeAnnotation, PrimitiveType, Types}
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.scalatest.funsuite.AnyFunSuite

import org.apache.spark.sql.types._
import sparkzorder.curve.{NormalizedLong, OrderedBits, Zone}

/** Bounds by writers that no test can run. */
class DecoderSuite extends AnyFunSuite {
  private val arrow = FileOrigin("parquet-cpp-arrow version 14.0.0", Map.empty)
  private val spark3 = origin("1.13.1", "3.5.9")
  private val spark2 = origin("1.8.3", "2.4.8")

  private def origin(parquet: String, spark: String): FileOrigin =
    FileOrigin(s"parquet-mr version $parquet (build abc)", Map("org.apache.spark.version" -> spark))

  private def long(v: Long) = ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(v).array
  private def double(v: Double) = long(java.lang.Double.doubleToRawLongBits(v))
  private def between(min: Long, max: Long): Zone = Zone.Between(NormalizedLong(min), NormalizedLong(max))
  private def timestamp(unit: TimeUnit): PrimitiveType =
    Types.optional(INT64).as(LogicalTypeAnnotation.timestampType(true, unit)).named("t")

  private def zone(
      stored: PrimitiveType,
      column: StatColumn,
      origin: FileOrigin,
      min: Array[Byte],
      max: Array[Byte]): Zone =
    ParquetZones.decoder(stored, column, origin).map(_.zone(min, max)).getOrElse(Zone.Unknown)

  test("an upper bound hides NaN unless parquet-mr of 1.10 and later wrote it") {
    val stored = Types.optional(DOUBLE).named("x")
    val column = StatColumn(Seq("x"), DoubleType)
    def of(origin: FileOrigin, c: StatColumn = column) = zone(stored, c, origin, double(1), double(2))
    val (one, two) = (OrderedBits.ofDouble(1), OrderedBits.ofDouble(2))
    assert(of(spark3) == between(one, two))
    Seq(arrow, spark2, FileOrigin("", Map.empty)).foreach { origin =>
      assert(of(origin) == between(one, OrderedBits.ofDouble(Double.NaN)))
      assert(of(origin, column.copy(overlookNaN = true)) == between(one, two))
    }
  }

  test("the sign of zero and NaN bounds") {
    val stored = Types.optional(DOUBLE).named("x")
    val column = StatColumn(Seq("x"), DoubleType)
    assert(zone(stored, column, spark3, double(0.0), double(-0.0)) == between(0, 0))
    assert(zone(stored, column, spark3, double(1), double(Double.NaN)) == Zone.Unknown)
    assert(zone(stored, column, spark3, double(2), double(1)) == Zone.Unknown)
    assert(zone(stored, column, spark3, null, double(1)) == Zone.Unknown)
    assert(zone(stored, column, spark3, Array(1), double(1)) == Zone.Unknown)
  }

  test("times before 1900 are trusted from Spark 3 only") {
    val column = StatColumn(Seq("t"), TimestampType)
    val old = -3000000000000000L
    val micros = timestamp(TimeUnit.MICROS)
    assert(zone(micros, column, spark3, long(old), long(5)) == between(old, 5))
    assert(zone(micros, column, spark2, long(old), long(5)) == Zone.Unknown)
    assert(zone(micros, column, arrow, long(old), long(5)) == Zone.Unknown)
    assert(zone(micros, column, arrow, long(-7), long(5)) == between(-7, 5))
    val legacy = spark3.copy(keyValues = spark3.keyValues + ("org.apache.spark.legacyDateTime" -> ""))
    assert(zone(micros, column, legacy, long(old), long(5)) == Zone.Unknown)
  }

  test("milliseconds become microseconds where they fit, nanoseconds are unknown") {
    val column = StatColumn(Seq("t"), TimestampType)
    val millis = timestamp(TimeUnit.MILLIS)
    assert(zone(millis, column, spark3, long(-2), long(3)) == between(-2000, 3000))
    assert(zone(millis, column, spark3, long(0), long(Long.MaxValue / 999)) == Zone.Unknown)
    assert(zone(timestamp(TimeUnit.NANOS), column, spark3, long(0), long(1)) == Zone.Unknown)
    assert(zone(millis, column.copy(dataType = TimestampNTZType), spark3, long(0), long(1)) == Zone.Unknown)
  }
}

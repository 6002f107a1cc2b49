package org.apache.spark.sql.zorder.stats

import java.math.BigInteger
import java.nio.{ByteBuffer, ByteOrder}

import scala.collection.JavaConverters._

import org.apache.parquet.column.statistics.Statistics
import org.apache.parquet.hadoop.metadata.ColumnChunkMetaData
import org.apache.parquet.internal.column.columnindex.{ColumnIndex, OffsetIndex}
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._
import org.apache.spark.sql.catalyst.util.RebaseDateTime
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.curve.{Block, NormalizedBytes, NormalizedLong, OrderedBits, NormalizedValue, Zone}

/**
 * Bounds of one column of one file, normalized as
 * [[org.apache.spark.sql.zorder.expr.normalized.NormalizedType]] does it with Spark's values. `normalize`
 * takes a bound in Parquet's plain encoding; None where it has no normalized value.
 */
final class ZoneDecoder private[stats] (
    normalize: Array[Byte] => Option[NormalizedValue],
    adjust: Zone => Zone) {

  def zone(min: Array[Byte], max: Array[Byte]): Zone =
    if (min == null || max == null) Zone.Unknown
    else adjust(ZoneAlgebra.between(normalize(min), normalize(max)))
}

/** Parquet statistics as zones. Whatever is in doubt is unknown, and unknown never prunes. */
object ParquetZones {

  /** Row-group statistics; `decoder` is None if the file's type says nothing about values of the table's type. */
  def ofChunk(chunk: ColumnChunkMetaData, decoder: Option[ZoneDecoder]): Zone = {
    val statistics: Statistics[_] = chunk.getStatistics
    if (statistics == null || statistics.isEmpty) Zone.Unknown
    else if (!statistics.hasNonNullValue)
      if (nulls(chunk).contains(chunk.getValueCount)) Zone.OnlyNulls else Zone.Unknown
    else decoder.map(_.zone(statistics.getMinBytes, statistics.getMaxBytes)).getOrElse(Zone.Unknown)
  }

  /** None where the file does not say. */
  def nulls(chunk: ColumnChunkMetaData): Option[Long] = {
    val statistics: Statistics[_] = chunk.getStatistics
    if (statistics == null || !statistics.isNumNullsSet) None else Some(statistics.getNumNulls)
  }

  /**
   * Whether values of a file that cannot be read as the column's type may be NULL to a query: Spark's row-based reader
   * makes NULL of decimals with more digits than the type has (`UnsafeRowWriter`).
   */
  def mayNullify(dataType: DataType): Boolean = dataType.isInstanceOf[DecimalType]

  /** Whether a column that is in no list has a value for each row of its row group, and no more NULLs than that. */
  def countsAgree(chunk: ColumnChunkMetaData, rows: Long): Boolean =
    chunk.getValueCount == rows && nulls(chunk).forall(_ <= rows)

  /**
   * Every page of a chunk, a block of one column; None where the indexes contradict each other or the chunk's own
   * statistics, as those of some writers do that cut a maximum short, or call a page one of NULLs that has values.
   *
   * @param whole
   *   the zone of the chunk
   * @param nulls
   *   how many NULLs the chunk says it has
   */
  def ofPages(
      columnIndex: ColumnIndex,
      offsets: OffsetIndex,
      rows: Long,
      whole: Zone,
      nulls: Option[Long],
      decoder: Option[ZoneDecoder]): Option[IndexedSeq[Block]] = {
    val nullPages = columnIndex.getNullPages.asScala.map(_.booleanValue).toIndexedSeq
    val nullCounts = Option(columnIndex.getNullCounts).map(_.asScala.map(_.longValue).toIndexedSeq)
    val mins = columnIndex.getMinValues
    val maxs = columnIndex.getMaxValues
    def pages: IndexedSeq[Block] = nullPages.indices.map { i =>
      val zone =
        if (nullPages(i)) Zone.OnlyNulls
        else decoder.map(_.zone(bytes(mins.get(i)), bytes(maxs.get(i)))).getOrElse(Zone.Unknown)
      val nullFree: Set[Int] = if (nullCounts.exists(_(i) == 0L)) Set(0) else Set.empty
      Block(offsets.getLastRowIndex(i, rows) - offsets.getFirstRowIndex(i) + 1, IndexedSeq(zone), nullFree)
    }
    def agrees(pages: IndexedSeq[Block]): Boolean = {
      val onlyNulls = pages.indices.filter(nullPages)
      reaches(ZoneAlgebra.union(pages.map(_.zones.head)), whole) &&
      countsAgree(pages.map(_.rows), rows, nullPages, nullCounts) &&
      nulls.forall(n => onlyNulls.map(pages(_).rows).sum <= n && nullCounts.forall(_.sum == n))
    }
    if (nullPages.length != offsets.getPageCount || nullCounts.exists(_.length != nullPages.length)) None
    else Some(pages).filter(agrees)
  }

  /** Whether the pages of a chunk together go as far as the chunk does, both ways; bounds of pages may be wider. */
  private def reaches(pages: Zone, whole: Zone): Boolean = (pages, whole) match {
    case (Zone.Between(least, greatest), Zone.Between(min, max)) => least <= min && greatest >= max
    case (Zone.OnlyNulls, _: Zone.Between) => false
    case _ => true
  }

  /** Whether pages have all rows of their row group, and no page has more NULLs than rows or fewer where it is all NULL. */
  private def countsAgree(
      pages: IndexedSeq[Long],
      rows: Long,
      nullPages: IndexedSeq[Boolean],
      nullCounts: Option[IndexedSeq[Long]]): Boolean =
    pages.forall(_ >= 0) && pages.sum == rows && nullCounts.forall { counts =>
      counts.length == pages.length && pages.indices.forall(i =>
        if (nullPages(i)) counts(i) == pages(i) else counts(i) <= pages(i))
    }

  /** Whether files that Spark writes have bounds of such a column that a look-up could use. */
  def bounds(dataType: DataType): Boolean = dataType match {
    case _: CharType => false
    case s: StringType => Shims.stringNormalizedType(s).isEmpty
    case _ => true
  }

  /** How to read the bounds of a file's column of type `stored` as the table's `column`, if they can be. */
  def decoder(stored: PrimitiveType, column: StatColumn, origin: FileOrigin): Option[ZoneDecoder] = {
    val annotation = stored.getLogicalTypeAnnotation
    val physical = stored.getPrimitiveTypeName
    def signed: Boolean = annotation match {
      case null => true
      case i: IntLogicalTypeAnnotation => i.isSigned
      case _ => false
    }
    def plain(normalize: Array[Byte] => Option[NormalizedValue]) = Some(new ZoneDecoder(normalize, identity))
    def number(value: Array[Byte] => Option[Long]) = plain(value(_).map(NormalizedLong))
    (column.dataType, physical, annotation) match {
      case (BooleanType, BOOLEAN, _) => number(b => if (b.length == 1) Some(b(0).toLong & 1L) else None)
      // a column read as a narrower type than the file's wraps around: bounds that fit say that nothing does
      case (ByteType, INT32, _) if signed => number(int(_).filter(v => v == v.toByte))
      case (ShortType, INT32, _) if signed => number(int(_).filter(v => v == v.toShort))
      case (IntegerType | LongType, INT32, _) if signed => number(int)
      case (_: YearMonthIntervalType, INT32, null) => number(int)
      case (LongType, INT64, _) if signed => number(long)
      case (_: DayTimeIntervalType, INT64, null) => number(long)
      case (DateType, INT32, _: DateLogicalTypeAnnotation) =>
        calendar(int, RebaseDateTime.lastSwitchJulianDay.toLong, origin)
      case (TimestampType, INT64, t: TimestampLogicalTypeAnnotation) if t.isAdjustedToUTC =>
        micros(t.getUnit).flatMap(f => calendar(f, RebaseDateTime.lastSwitchJulianTs, origin))
      case (TimestampNTZType, INT64, t: TimestampLogicalTypeAnnotation) if !t.isAdjustedToUTC =>
        micros(t.getUnit).flatMap(f => number(f))
      case (d: DecimalType, _, a: DecimalLogicalTypeAnnotation)
          if a.getScale == d.scale && a.getPrecision <= d.precision =>
        plain(unscaled(physical)(_).map(normalizedDecimal(d)))
      case (FloatType, FLOAT, null) =>
        val nan = OrderedBits.ofFloat(Float.NaN)
        floating(float(_).filterNot(_.isNaN).map(OrderedBits.ofFloat), nan, column, origin)
      case (DoubleType, DOUBLE | FLOAT, null) =>
        val value = if (physical == FLOAT) (b: Array[Byte]) => float(b).map(_.toDouble) else double _
        val nan = OrderedBits.ofDouble(Double.NaN)
        floating(value(_).filterNot(_.isNaN).map(OrderedBits.ofDouble), nan, column, origin)
      case (_: CharType, _, _) => None
      // a VARCHAR is a string with a collation, too, in Spark 4.2
      case (s: StringType, _, _) if Shims.stringNormalizedType(s).isDefined => None
      case (_: StringType | _: VarcharType, BINARY, _) if bytewise(stored) => plain(string)
      case (BinaryType, BINARY | FIXED_LEN_BYTE_ARRAY, _) if bytewise(stored) => plain(string)
      case (time, INT64, t: TimeLogicalTypeAnnotation) if time.typeName.startsWith("time(") =>
        nanosOfDay(t.getUnit).flatMap(f => number(f))
      case _ => None
    }
  }

  private def bytes(buffer: ByteBuffer): Array[Byte] = {
    val copy = new Array[Byte](buffer.remaining())
    buffer.duplicate().get(copy)
    copy
  }

  private def little(b: Array[Byte]): ByteBuffer = ByteBuffer.wrap(b).order(ByteOrder.LITTLE_ENDIAN)
  private def int(b: Array[Byte]): Option[Long] = if (b.length == 4) Some(little(b).getInt.toLong) else None
  private def long(b: Array[Byte]): Option[Long] = if (b.length == 8) Some(little(b).getLong) else None
  private def float(b: Array[Byte]): Option[Float] = if (b.length == 4) Some(little(b).getFloat) else None
  private def double(b: Array[Byte]): Option[Double] = if (b.length == 8) Some(little(b).getDouble) else None
  private def string(b: Array[Byte]): Option[NormalizedValue] = Some(NormalizedBytes(b))

  /** A number times `factor`, if the product is one. */
  private def times(factor: Long)(b: Array[Byte]): Option[Long] =
    long(b).filter(v => math.abs(v / (Long.MaxValue / factor)) == 0L).map(_ * factor)

  private def micros(unit: TimeUnit): Option[Array[Byte] => Option[Long]] = unit match {
    case TimeUnit.MICROS => Some(long)
    case TimeUnit.MILLIS => Some(times(1000L))
    case TimeUnit.NANOS => None
  }

  /** Spark counts the time of day in nanoseconds. */
  private def nanosOfDay(unit: TimeUnit): Option[Array[Byte] => Option[Long]] = unit match {
    case TimeUnit.MICROS => Some(times(1000L))
    case TimeUnit.NANOS => Some(long)
    case TimeUnit.MILLIS => None
  }

  /** Days or microseconds, unknown where an old calendar might have been meant. */
  private def calendar(
      value: Array[Byte] => Option[Long],
      switch: Long,
      origin: FileOrigin): Option[ZoneDecoder] =
    Some(new ZoneDecoder(
      value(_).map(NormalizedLong),
      {
        case Zone.Between(NormalizedLong(min), _) if min < switch && !origin.prolepticCalendar => Zone.Unknown
        case zone => zone
      }))

  /** -0.0 and 0.0 are one normalized value, so that the sign which a bound may hide does not matter. */
  private def floating(
      value: Array[Byte] => Option[Long],
      nan: Long,
      column: StatColumn,
      origin: FileOrigin): Option[ZoneDecoder] = {
    val hidesNaN = !origin.boundsShowNaN && !column.overlookNaN
    Some(new ZoneDecoder(
      value(_).map(NormalizedLong),
      {
        case Zone.Between(min, _) if hidesNaN => Zone.Between(min, NormalizedLong(nan))
        case zone => zone
      }))
  }

  private def unscaled(physical: PrimitiveType.PrimitiveTypeName)(b: Array[Byte]): Option[BigInteger] =
    physical match {
      case INT32 => int(b).map(BigInteger.valueOf)
      case INT64 => long(b).map(BigInteger.valueOf)
      case BINARY | FIXED_LEN_BYTE_ARRAY if b.nonEmpty => Some(new BigInteger(b)).filter(_.bitLength < 128)
      case _ => None
    }

  private def normalizedDecimal(d: DecimalType)(value: BigInteger): NormalizedValue =
    if (d.precision <= Decimal.MAX_LONG_DIGITS) NormalizedLong(value.longValue)
    else NormalizedBytes(OrderedBits.ofBigInteger(value))

  /** Types whose bounds Parquet orders by unsigned bytes. */
  private def bytewise(stored: PrimitiveType): Boolean = stored.getLogicalTypeAnnotation match {
    case null => true
    case _: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation |
        _: BsonLogicalTypeAnnotation => true
    case _ => false
  }
}

/** Arithmetic of zones. */
object ZoneAlgebra {

  /** The zone of several blocks together; without blocks it holds no value. */
  def union(zones: Seq[Zone]): Zone = zones.foldLeft[Zone](Zone.OnlyNulls)(union)

  /** The least zone that covers both. */
  def union(a: Zone, b: Zone): Zone = (a, b) match {
    case (Zone.Unknown, _) | (_, Zone.Unknown) => Zone.Unknown
    case (Zone.OnlyNulls, other) => other
    case (other, Zone.OnlyNulls) => other
    case (Zone.Between(min1, max1), Zone.Between(min2, max2)) =>
      Zone.Between(if (min1 <= min2) min1 else min2, if (max1 >= max2) max1 else max2)
  }

  /** The zone of the bounds in a file; unknown if a bound is missing or they are out of order. */
  def between(min: Option[NormalizedValue], max: Option[NormalizedValue]): Zone = (min, max) match {
    case (Some(low), Some(high)) if low <= high => Zone.Between(low, high)
    case _ => Zone.Unknown
  }
}

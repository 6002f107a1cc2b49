package org.apache.spark.sql.zorder.stats.bloom

import java.math.BigInteger

import org.apache.parquet.column.ColumnReader
import org.apache.parquet.schema.LogicalTypeAnnotation._
import org.apache.parquet.schema.PrimitiveType
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName._

import org.apache.spark.sql.catalyst.expressions.XXH64
import org.apache.spark.sql.catalyst.util.RebaseDateTime
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.unsafe.Platform
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue}

/** What a filter is asked for a value. */
sealed trait BloomProbe

object BloomProbe {

  final case class Hash(value: Long) extends BloomProbe

  /** No file that stores its values so can hold the value. */
  case object Absent extends BloomProbe

  /** Nothing can be said. */
  case object Unknown extends BloomProbe
}

/**
 * How a file stores the values of a column, and so what its filter has as their keys: XXH64 of the bytes that
 * Parquet's plain encoding gives them, as Parquet's own filters have.
 */
sealed abstract class BloomKey(val code: Int) extends Serializable {

  /** The hash of the value that the reader stands at. */
  private[bloom] def hash(reader: ColumnReader): Long

  /** What to ask for a value of the table's column. */
  final def probe(normalized: NormalizedValue, dataType: DataType): BloomProbe =
    if (BloomKey.oldCalendar(normalized, dataType)) BloomProbe.Unknown else of(normalized)

  /** Absent where the file's type has no such value; unknown where the value is of another kind. */
  protected def of(normalized: NormalizedValue): BloomProbe
}

object BloomKey {

  case object Int32 extends BloomKey(0) {
    override private[bloom] def hash(reader: ColumnReader): Long = XXH64.hashInt(reader.getInteger, 0L)
    override protected def of(normalized: NormalizedValue): BloomProbe =
      number(normalized)(v => if (v.isValidInt) Some(XXH64.hashInt(v.toInt, 0L)) else None)
  }

  case object Int64 extends BloomKey(1) {
    override private[bloom] def hash(reader: ColumnReader): Long = XXH64.hashLong(reader.getLong, 0L)
    override protected def of(normalized: NormalizedValue): BloomProbe =
      number(normalized)(v => if (v.isValidLong) Some(XXH64.hashLong(v.toLong, 0L)) else None)
  }

  /** Microseconds of the table, stored as milliseconds. */
  case object Millis extends BloomKey(2) {
    override private[bloom] def hash(reader: ColumnReader): Long = Int64.hash(reader)
    override protected def of(normalized: NormalizedValue): BloomProbe =
      number(normalized)(v => if (v % 1000 == 0) Some(XXH64.hashLong((v / 1000).toLong, 0L)) else None)
  }

  case object Bytes extends BloomKey(3) {
    override private[bloom] def hash(reader: ColumnReader): Long = hashed(reader.getBinary.getBytesUnsafe)
    override protected def of(normalized: NormalizedValue): BloomProbe = normalized match {
      case NormalizedBytes(bytes) => BloomProbe.Hash(hashed(bytes))
      case _ => BloomProbe.Unknown
    }
  }

  /** Decimals as numbers of `width` bytes. */
  final case class Fixed(width: Int) extends BloomKey(FixedFrom + width) {
    override private[bloom] def hash(reader: ColumnReader): Long = Bytes.hash(reader)
    override protected def of(normalized: NormalizedValue): BloomProbe = number(normalized) { v =>
      val b = v.bigInteger.toByteArray
      val sign: Byte = if (b(0) < 0) -1 else 0
      if (b.length <= width) Some(hashed(Array.fill(width - b.length)(sign) ++ b)) else None
    }
  }

  private val FixedFrom = 16

  /** The key of that code; None for one that only another version knows. */
  def of(code: Int): Option[BloomKey] =
    if (code > FixedFrom) Some(Fixed(code - FixedFrom))
    else Seq[BloomKey](Int32, Int64, Millis, Bytes).find(_.code == code)

  /** How a file's column of type `stored` holds values of the table's column; None where that is in doubt. */
  def of(stored: PrimitiveType, column: StatColumn): Option[BloomKey] = {
    val annotation = stored.getLogicalTypeAnnotation
    def integer(bits: Int): Boolean = annotation match {
      case null => bits >= 32
      case i: IntLogicalTypeAnnotation => i.isSigned && i.getBitWidth <= bits
      case _ => false
    }
    (column.dataType, stored.getPrimitiveTypeName, annotation) match {
      case (ByteType, INT32, _) if integer(8) => Some(Int32)
      case (ShortType, INT32, _) if integer(16) => Some(Int32)
      case (IntegerType | LongType, INT32, _) if integer(32) => Some(Int32)
      case (LongType, INT64, _) if integer(64) => Some(Int64)
      case (DateType, INT32, _: DateLogicalTypeAnnotation) => Some(Int32)
      case (TimestampType, INT64, t: TimestampLogicalTypeAnnotation) if t.isAdjustedToUTC => time(t.getUnit)
      case (TimestampNTZType, INT64, t: TimestampLogicalTypeAnnotation) if !t.isAdjustedToUTC =>
        time(t.getUnit)
      case (d: DecimalType, physical, a: DecimalLogicalTypeAnnotation)
          if a.getScale == d.scale && a.getPrecision <= d.precision =>
        physical match {
          case INT32 => Some(Int32)
          case INT64 => Some(Int64)
          case FIXED_LEN_BYTE_ARRAY => Some(Fixed(stored.getTypeLength))
          // the same number may have several byte strings
          case _ => None
        }
      case (_: CharType, _, _) => None
      case (s: StringType, _, _) if Shims.stringNormalizedType(s).isDefined => None
      case (_: StringType | _: VarcharType, BINARY, _) if text(stored) => Some(Bytes)
      case (BinaryType, BINARY | FIXED_LEN_BYTE_ARRAY, _) if text(stored) => Some(Bytes)
      case _ => None
    }
  }

  /** The condition that refuses a filter to a column of this type; None if it can have one. */
  def refusal(dataType: DataType): Option[String] = dataType match {
    case _: FloatType | _: DoubleType => Some("ZORDER_COLUMN_REFUSED.BLOOM_OF_FLOAT")
    case BooleanType => Some("ZORDER_COLUMN_REFUSED.BLOOM_OF_BOOLEAN")
    case _: CharType => Some("ZORDER_COLUMN_REFUSED.BLOOM_OF_CHAR")
    case s: StringType if Shims.stringNormalizedType(s).isDefined =>
      Some("ZORDER_COLUMN_REFUSED.BLOOM_OF_COLLATION")
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType | TimestampNTZType |
        BinaryType | _: DecimalType | _: StringType | _: VarcharType => None
    case _ => Some("ZORDER_COLUMN_REFUSED.BLOOM_OF_TYPE")
  }

  private[bloom] def hashed(bytes: Array[Byte]): Long =
    XXH64.hashUnsafeBytes(bytes, Platform.BYTE_ARRAY_OFFSET.toLong, bytes.length, 0L)

  private def time(unit: TimeUnit): Option[BloomKey] = unit match {
    case TimeUnit.MICROS => Some(Int64)
    case TimeUnit.MILLIS => Some(Millis)
    case TimeUnit.NANOS => None
  }

  private def text(stored: PrimitiveType): Boolean = stored.getLogicalTypeAnnotation match {
    case null | _: StringLogicalTypeAnnotation | _: EnumLogicalTypeAnnotation | _: JsonLogicalTypeAnnotation |
        _: BsonLogicalTypeAnnotation => true
    case _ => false
  }

  /** What to ask for a number. `hash` is None where the file's type has no such number. */
  private def number(normalized: NormalizedValue)(hash: BigInt => Option[Long]): BloomProbe =
    whole(normalized) match {
      case None => BloomProbe.Unknown
      case Some(v) => hash(v).fold[BloomProbe](BloomProbe.Absent)(BloomProbe.Hash(_))
    }

  /** The number that a normalized value stands for: of wide decimals, 16 bytes with the sign turned over. */
  private def whole(normalized: NormalizedValue): Option[BigInt] = normalized match {
    case NormalizedLong(v) => Some(BigInt(v))
    case NormalizedBytes(bytes) if bytes.length == 16 =>
      val signed = bytes.clone()
      signed(0) = (signed(0) ^ 0x80).toByte
      Some(BigInt(new BigInteger(signed)))
    case _ => None
  }

  /** Days and times that a reader may shift, because the file's writer meant the Julian calendar. */
  private def oldCalendar(normalized: NormalizedValue, dataType: DataType): Boolean =
    (normalized, dataType) match {
      case (NormalizedLong(v), DateType) => v < RebaseDateTime.lastSwitchJulianDay + MarginDays
      case (NormalizedLong(v), TimestampType) =>
        v < RebaseDateTime.lastSwitchJulianTs + MarginDays * MicrosPerDay
      case _ => false
    }

  /** More than the local times of any zone are apart. */
  private val MarginDays = 2L
  private val MicrosPerDay = 86400L * 1000 * 1000
}

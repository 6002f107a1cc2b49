package org.apache.spark.sql.zorder.expr

import java.nio.ByteOrder

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.normalized.{NormalizedBytesType, NormalizedLongType, NormalizedType}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.unsafe.Platform
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{KeyWords, OrderedBits}

/** How each Spark type is normalized. The only list of the types. */
object Normalization {
  private val OrderedBitsClass = "sparkzorder.curve.OrderedBits"

  /** How values of `dataType` are normalized, or None if the type has no order that a curve can use. */
  def of(dataType: DataType): Option[NormalizedType] = dataType match {
    case BooleanType =>
      Some(NormalizedLongType(1, v => if (v.asInstanceOf[Boolean]) 1L else 0L, v => s"($v ? 1L : 0L)"))
    case ByteType => Some(NormalizedLongType(8, _.asInstanceOf[Byte].toLong, widened))
    case ShortType => Some(NormalizedLongType(16, _.asInstanceOf[Short].toLong, widened))
    case IntegerType | DateType | _: YearMonthIntervalType =>
      Some(NormalizedLongType(32, _.asInstanceOf[Int].toLong, widened))
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      Some(NormalizedLongType(64, _.asInstanceOf[Long], v => v))
    case FloatType =>
      Some(NormalizedLongType(
        32,
        v => OrderedBits.ofFloat(v.asInstanceOf[Float]),
        v => s"$OrderedBitsClass.ofFloat($v)"))
    case DoubleType =>
      Some(NormalizedLongType(
        64,
        v => OrderedBits.ofDouble(v.asInstanceOf[Double]),
        v => s"$OrderedBitsClass.ofDouble($v)"))
    case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS =>
      val width = if (d.precision <= Decimal.MAX_INT_DIGITS) 32 else 64
      Some(NormalizedLongType(width, _.asInstanceOf[Decimal].toUnscaledLong, v => s"$v.toUnscaledLong()"))
    case _: DecimalType =>
      Some(NormalizedBytesType(
        128,
        v => OrderedBits.ofBigInteger(v.asInstanceOf[Decimal].toJavaBigDecimal.unscaledValue()),
        v => s"$OrderedBitsClass.ofBigInteger($v.toJavaBigDecimal().unscaledValue())"))
    case s: StringType if !Shims.hasOrder(s) => None
    case s: StringType => Some(Shims.stringNormalizedType(s).getOrElse(binaryString))
    case BinaryType => Some(NormalizedBytesType(128, _.asInstanceOf[Array[Byte]], v => v))
    case other => Shims.extraNormalizedType(other)
  }

  /** The type by what its order depends on, as layouts name it: a session may keep the length of a VARCHAR or not. */
  def typeName(dataType: DataType): String = Shims.withoutLength(dataType).sql

  /** The normalized NaN of a floating-point type, which no other type has: the greatest of its values. */
  def nan(dataType: DataType): Option[Long] = dataType match {
    case FloatType => Some(OrderedBits.ofFloat(Float.NaN))
    case DoubleType => Some(OrderedBits.ofDouble(Double.NaN))
    case _ => None
  }

  /** Whether the type is a string whose normalized values are its UTF-8 bytes. */
  def isPlainString(dataType: DataType): Boolean = dataType match {
    case s: StringType => Shims.stringNormalizedType(s).isEmpty
    case _ => false
  }

  private val widened: String => String = v => s"((long) $v)"

  private def binaryString: NormalizedType =
    NormalizedBytesType(128, _.asInstanceOf[UTF8String].getBytes, v => s"$v.getBytes()")
}

/** The first 16 bytes of a string as words of a key, without a copy of the string. */
object StringWords {
  private val littleEndian = ByteOrder.nativeOrder == ByteOrder.LITTLE_ENDIAN

  /** Writes `string` into the three longs from `words(at)` on. */
  def put(normalized: Array[Long], at: Int, string: UTF8String): Unit = {
    val base = string.getBaseObject
    val offset = string.getBaseOffset
    val n = string.numBytes
    KeyWords.putHighLow(normalized, at, bigEndian(base, offset, n), bigEndian(base, offset + 8, n - 8))
  }

  /** Up to 8 of `n` bytes (none if negative), most significant first, filled up with zeros. */
  private def bigEndian(base: AnyRef, offset: Long, n: Int): Long =
    if (n >= 8) {
      val normalized = Platform.getLong(base, offset)
      if (littleEndian) java.lang.Long.reverseBytes(normalized) else normalized
    } else {
      var out = 0L
      var i = 0
      while (i < n) {
        out |= (Platform.getByte(base, offset + i) & 0xffL) << (56 - 8 * i)
        i += 1
      }
      out
    }
}

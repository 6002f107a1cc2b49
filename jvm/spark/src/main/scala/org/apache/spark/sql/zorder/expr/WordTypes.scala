package org.apache.spark.sql.zorder.expr

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.word.{BytesWordType, LongWordType, WordType}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.OrderedWord

/** The word type of each Spark type. The only list of the types. */
object WordTypes {
  private val OrderedWordClass = "sparkzorder.curve.OrderedWord"

  /** The word type of `dataType`, or None if the type has no order that a curve can use. */
  def of(dataType: DataType): Option[WordType] = dataType match {
    case BooleanType =>
      Some(LongWordType(1, v => if (v.asInstanceOf[Boolean]) 1L else 0L, v => s"($v ? 1L : 0L)"))
    case ByteType => Some(LongWordType(8, _.asInstanceOf[Byte].toLong, widened))
    case ShortType => Some(LongWordType(16, _.asInstanceOf[Short].toLong, widened))
    case IntegerType | DateType | _: YearMonthIntervalType =>
      Some(LongWordType(32, _.asInstanceOf[Int].toLong, widened))
    case LongType | TimestampType | TimestampNTZType | _: DayTimeIntervalType =>
      Some(LongWordType(64, _.asInstanceOf[Long], v => v))
    case FloatType =>
      Some(LongWordType(
        32,
        v => OrderedWord.ofFloat(v.asInstanceOf[Float]),
        v => s"$OrderedWordClass.ofFloat($v)"))
    case DoubleType =>
      Some(LongWordType(
        64,
        v => OrderedWord.ofDouble(v.asInstanceOf[Double]),
        v => s"$OrderedWordClass.ofDouble($v)"))
    case d: DecimalType if d.precision <= Decimal.MAX_LONG_DIGITS =>
      val width = if (d.precision <= Decimal.MAX_INT_DIGITS) 32 else 64
      Some(LongWordType(width, _.asInstanceOf[Decimal].toUnscaledLong, v => s"$v.toUnscaledLong()"))
    case _: DecimalType =>
      Some(BytesWordType(
        128,
        v => OrderedWord.ofBigInteger(v.asInstanceOf[Decimal].toJavaBigDecimal.unscaledValue()),
        v => s"$OrderedWordClass.ofBigInteger($v.toJavaBigDecimal().unscaledValue())"))
    case s: StringType => Some(Shims.stringWordType(s).getOrElse(binaryString))
    case BinaryType => Some(BytesWordType(128, _.asInstanceOf[Array[Byte]], v => v))
    case other => Shims.extraWordType(other)
  }

  private val widened: String => String = v => s"((long) $v)"

  private def binaryString: WordType =
    BytesWordType(128, _.asInstanceOf[UTF8String].getBytes, v => s"$v.getBytes()")
}

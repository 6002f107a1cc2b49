package org.apache.spark.sql.zorder.workload.predicate

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import org.apache.commons.codec.binary.Hex

import org.apache.spark.sql.catalyst.expressions.{Cast, EvalMode, Literal}
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{BytesWord, LongWord, Word}

/**
 * Words as the text of their values and back: what a cast to STRING in UTC gives; of BINARY, hexadecimal
 * digits. A word whose text would not come back as the same word has none, as those of collated strings.
 */
private[zorder] object ValueText {
  private val Utc = Some("UTC")

  def of(word: Word, dataType: DataType): Option[String] =
    Try(value(word, dataType).map(text(_, dataType))).toOption.flatten
      .filter(t => ValueText.word(t, dataType).contains(word))

  /** The word of a value's text; None where the text is no value of the type. */
  def word(text: String, dataType: DataType): Option[Word] = WordTypes.of(dataType).flatMap { words =>
    val read = dataType match {
      case _ if text == null => None
      case BinaryType => Try(Hex.decodeHex(text)).toOption
      case _: StringType => Some(UTF8String.fromString(text))
      case _ => Try(Option(Cast(Literal(text), dataType, Utc, EvalMode.TRY).eval())).toOption.flatten
    }
    read.map(words.word)
  }

  /** The number that a word of a wide decimal is. */
  def bigInteger(word: Array[Byte]): BigInteger = {
    val bytes = word.clone()
    bytes(0) = (bytes(0) ^ 0x80).toByte
    new BigInteger(bytes)
  }

  /** A value in Spark's internal representation that has this word. */
  def value(word: Word, dataType: DataType): Option[Any] = (word, dataType) match {
    case (LongWord(v), BooleanType) => Some(v != 0)
    case (LongWord(v), ByteType) => Some(v.toByte)
    case (LongWord(v), ShortType) => Some(v.toShort)
    case (LongWord(v), IntegerType | DateType | _: YearMonthIntervalType) => Some(v.toInt)
    case (LongWord(v), FloatType) =>
      Some(java.lang.Float.intBitsToFloat(v.toInt ^ ((v.toInt >> 31) & Int.MaxValue)))
    case (LongWord(v), DoubleType) => Some(java.lang.Double.longBitsToDouble(v ^ ((v >> 63) & Long.MaxValue)))
    case (LongWord(v), d: DecimalType) => Some(Decimal(v, d.precision, d.scale))
    case (LongWord(v), _) => Some(v)
    case (BytesWord(b), d: DecimalType) =>
      Some(Decimal(new java.math.BigDecimal(bigInteger(b), d.scale), d.precision, d.scale))
    case (BytesWord(b), BinaryType) => Some(b)
    case (BytesWord(b), s: StringType) if AdjacentWords.isPlainString(s) => Some(UTF8String.fromBytes(b))
    case _ => None
  }

  private def text(value: Any, dataType: DataType): String = (value, dataType) match {
    case (bytes: Array[Byte], _) => Hex.encodeHexString(bytes, false)
    case (string: UTF8String, _) => new String(string.getBytes, UTF_8)
    case _ => Cast(Literal.create(value, dataType), StringType, Utc, EvalMode.ANSI).eval().toString
  }
}

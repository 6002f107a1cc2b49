package org.apache.spark.sql.zorder.workload.predicate

import java.math.BigInteger

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.curve.{BytesWord, LongWord, OrderedWord, Word}

/**
 * The next word above and below a word, which turn `<` and `>` into intervals with both ends included. If a type has
 * no next word, the result is wider; None if there is no word on that side.
 */
private[workload] object AdjacentWords {

  /** No byte of UTF-8 is this high, so a prefix followed by these bytes is above every string with the prefix. */
  private val Above: Array[Byte] = Array.fill(16)(0xff.toByte)

  /** The least word above. */
  def above(word: Word, dataType: DataType): Option[Word] = word match {
    case LongWord(v) => if (v >= domain(dataType)._2) None else Some(LongWord(v + 1))
    case BytesWord(b) => if (isDecimal(dataType)) shifted(b, 1) else Some(BytesWord(b :+ 0.toByte))
  }

  /** The greatest word below; of strings one that is above every string below, of other bytes the word itself. */
  def below(word: Word, dataType: DataType): Option[Word] = word match {
    case LongWord(v) => if (v <= domain(dataType)._1) None else Some(LongWord(v - 1))
    case BytesWord(b) if isDecimal(dataType) => shifted(b, -1)
    case BytesWord(b) if b.isEmpty => None
    case BytesWord(b) if b.last == 0 => Some(BytesWord(b.init))
    case BytesWord(b) if isPlainString(dataType) =>
      Some(BytesWord((b.init :+ (b.last - 1).toByte) ++ Above))
    case _ => Some(word)
  }

  /** Above every string that begins with these bytes. */
  def endOfPrefix(prefix: Array[Byte]): BytesWord = BytesWord(prefix ++ Above)

  /** The string whose extensions end at this word, or whose successor does. */
  def withoutEnd(bytes: Array[Byte]): Option[Array[Byte]] =
    if (bytes.endsWith(Above)) Some(bytes.dropRight(Above.length)) else None

  /** Whether the words of the type are its UTF-8 bytes. */
  def isPlainString(dataType: DataType): Boolean = dataType match {
    case s: StringType => Shims.stringWordType(s).isEmpty
    case _ => false
  }

  /** The numbers that words of a type can be. */
  def domain(dataType: DataType): (Long, Long) = dataType match {
    case BooleanType => (0L, 1L)
    case ByteType => (Byte.MinValue.toLong, Byte.MaxValue.toLong)
    case ShortType => (Short.MinValue.toLong, Short.MaxValue.toLong)
    case IntegerType | DateType | _: YearMonthIntervalType => (Int.MinValue.toLong, Int.MaxValue.toLong)
    case FloatType =>
      (OrderedWord.ofFloat(Float.NegativeInfinity), OrderedWord.ofFloat(Float.NaN))
    case DoubleType =>
      (OrderedWord.ofDouble(Double.NegativeInfinity), OrderedWord.ofDouble(Double.NaN))
    case _ => (Long.MinValue, Long.MaxValue)
  }

  private def isDecimal(dataType: DataType): Boolean = dataType.isInstanceOf[DecimalType]

  private def shifted(bytes: Array[Byte], by: Long): Option[Word] =
    Some(BytesWord(OrderedWord.ofBigInteger(ValueText.bigInteger(bytes).add(BigInteger.valueOf(by)))))
}

package org.apache.spark.sql.zorder.workload.predicate

import java.math.BigInteger

import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.curve.{BelowBytes, BytesWord, LongWord, OrderedWord, Word}
import sparkzorder.curve.cost.Interval

/**
 * The next word above and below a word, which turn `<` and `>` into intervals with both ends included; None if there is
 * no word on that side. Bytes are never guessed: files may hold strings that are no UTF-8, with any byte at any place.
 */
private[workload] object AdjacentWords {

  /** The least word above. */
  def above(word: Word, dataType: DataType): Option[Word] = word match {
    case LongWord(v) => if (v >= domain(dataType)._2) None else Some(LongWord(v + 1))
    case BytesWord(b) => if (isDecimal(dataType)) shifted(b, 1) else Some(BytesWord(b :+ 0.toByte))
    case BelowBytes(b) => Some(BytesWord(b))
  }

  /** The greatest word below; of byte strings the end of those below. */
  def below(word: Word, dataType: DataType): Option[Word] = word match {
    case LongWord(v) => if (v <= domain(dataType)._1) None else Some(LongWord(v - 1))
    case BytesWord(b) if isDecimal(dataType) => shifted(b, -1)
    case BytesWord(b) if b.isEmpty => None
    case BytesWord(b) if b.last == 0 => Some(BytesWord(b.init))
    case BytesWord(b) => Some(BelowBytes(b))
    case _: BelowBytes => Some(word)
  }

  /** The least string above all that begin with these bytes; None if there is none. */
  def afterPrefix(prefix: Array[Byte]): Option[Array[Byte]] =
    prefix.lastIndexWhere(_ != -1) match {
      case -1 => None
      case last => Some(prefix.take(last) :+ (prefix(last) + 1).toByte)
    }

  /** The strings that begin with these bytes. */
  def withPrefix(prefix: Array[Byte]): Interval =
    Interval(Some(BytesWord(prefix)), afterPrefix(prefix).map(BelowBytes(_)))

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

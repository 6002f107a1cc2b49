package org.apache.spark.sql.zorder.skipping.predicate

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import org.apache.commons.codec.binary.Hex
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.{ColumnPath, WordTypes}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{BelowBytes, BytesWord, LongWord, OrderedWord, Word}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * What a condition is on: a column, a field of a struct, or a deterministic expression over the columns of
 * one row whose type has an order.
 *
 * @param sql
 *   its text without qualifiers; equal texts are the same column
 * @param masked
 *   the same with every literal left out
 */
final case class BoxColumn(sql: String, masked: String, dataType: DataType) {

  /** Whether the text holds a literal, which is a value of the data perhaps. */
  def hasLiterals: Boolean = sql != masked
}

object BoxColumn {

  /** None if nothing is known about the expression's values. */
  def of(e: Expression): Option[BoxColumn] =
    if (e.foldable || WordTypes.of(e.dataType).isEmpty) None
    else
      ColumnPath.of(e) match {
        case Some(path) =>
          val sql = ColumnPath.sql(path)
          Some(BoxColumn(sql, sql, e.dataType))
        case None if tellable(e) => Some(BoxColumn(text(e), text(masked(e)), e.dataType))
        case None => None
      }

  /** User-defined functions print alike whatever they do; a subquery is another query's text. */
  private def tellable(e: Expression): Boolean = e.deterministic && e.references.nonEmpty && !e.exists {
    case _: SubqueryExpression | _: UserDefinedExpression | _: DynamicPruning => true
    case _ => false
  }

  private def text(e: Expression): String =
    e.transform { case a: AttributeReference => a.withQualifier(Nil) }.sql

  private def masked(e: Expression): Expression =
    e.transform { case l: Literal => AttributeReference("?", l.dataType)() }
}

/** The set algebra of conditions on one column. Intervals stay ascending and disjoint. */
private[zorder] object Conditions {

  /** Every value and NULL. */
  val Anything: Condition = Condition(IndexedSeq(Interval.All), orNull = true)

  def and(a: Condition, b: Condition): Condition =
    Condition(both(a.intervals, b.intervals), a.orNull && b.orNull)

  def or(a: Condition, b: Condition): Condition =
    Condition(merged((a.intervals ++ b.intervals).sortWith(startsBefore)), a.orNull || b.orNull)

  /** From the first value to the last one, whatever lies between. */
  def hull(c: Condition): Condition =
    if (c.intervals.size < 2) c
    else Condition(IndexedSeq(Interval(c.intervals.head.min, c.intervals.last.max)), c.orNull)

  /** In one pass: a list of values may have thousands. */
  private def both(a: IndexedSeq[Interval], b: IndexedSeq[Interval]): IndexedSeq[Interval] = {
    val met = IndexedSeq.newBuilder[Interval]
    var i = 0
    var j = 0
    while (i < a.length && j < b.length) {
      met ++= overlap(a(i), b(j))
      if (endsBefore(a(i), b(j))) i += 1 else j += 1
    }
    met.result()
  }

  private def overlap(x: Interval, y: Interval): Option[Interval] = {
    val met = Interval(end(x.min, y.min)(_ > _), end(x.max, y.max)(_ < _))
    val empty = met.min.exists(low => met.max.exists(_ < low))
    if (empty) None else Some(met)
  }

  /** The narrower of two ends; an open end is the wider one. */
  private def end(a: Option[Word], b: Option[Word])(narrower: (Word, Word) => Boolean): Option[Word] =
    (a, b) match {
      case (Some(x), Some(y)) => Some(if (narrower(x, y)) x else y)
      case _ => a.orElse(b)
    }

  private def endsBefore(a: Interval, b: Interval): Boolean =
    a.max.exists(x => b.max.forall(x < _))

  private def startsBefore(a: Interval, b: Interval): Boolean = (a.min, b.min) match {
    case (Some(x), Some(y)) => x < y
    case (None, Some(_)) => true
    case _ => false
  }

  private def merged(ascending: IndexedSeq[Interval]): IndexedSeq[Interval] =
    ascending.foldLeft(Vector.empty[Interval]) { (done, next) =>
      done.lastOption.filter(reaches(_, next)) match {
        case Some(last) =>
          val max = for { x <- last.max; y <- next.max } yield if (x < y) y else x
          done.init :+ Interval(last.min, max)
        case None => done :+ next
      }
    }

  private def reaches(a: Interval, b: Interval): Boolean =
    a.max.forall(max => b.min.forall(_ <= max))
}

/**
 * The next word above and below a word, which turn `<` and `>` into intervals with both ends included; None if there is
 * no word on that side. Bytes are never guessed: files may hold strings that are no UTF-8, with any byte at any place.
 */
private[zorder] object AdjacentWords {

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

/** The position of a value between the lowest and the highest one of its column, from 0 to 1. */
final private[zorder] class RangePosition(low: Word, high: Word, dataType: DataType) {
  private val shared = (low, high) match {
    case (BytesWord(a), BytesWord(b)) => a.zip(b).takeWhile { case (x, y) => x == y }.length
    case _ => 0
  }
  private val from = number(low)
  private val size = number(high) - from

  /** Values outside are at the nearer end; in a column of one value everything above it is at 1. */
  def of(word: Word): Double =
    if (word <= low) 0.0
    else if (word >= high || !(size > 0.0)) 1.0
    else math.max(0.0, math.min(1.0, (number(word) - from) / size))

  private def number(word: Word): Double = word match {
    case LongWord(v) => dataType match {
        case FloatType | DoubleType =>
          ValueText.value(word, dataType).map(_.toString.toDouble).filterNot(_.isNaN)
            .map(d => math.max(-Double.MaxValue / 4, math.min(Double.MaxValue / 4, d)))
            .getOrElse(Double.MaxValue / 4)
        case _ => v.toDouble
      }
    case BytesWord(b) if dataType.isInstanceOf[DecimalType] => ValueText.bigInteger(b).doubleValue
    case BelowBytes(b) => number(BytesWord(b))
    case BytesWord(b) =>
      new BigInteger(1, java.util.Arrays.copyOfRange(b, math.min(shared, b.length), shared + 8)).doubleValue
  }
}

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

package org.apache.spark.sql.zorder.skipping.predicate

import java.math.BigInteger
import java.nio.charset.StandardCharsets.UTF_8

import scala.util.Try

import org.apache.commons.codec.binary.Hex
import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.{ColumnPath, Normalization}
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{BelowBytes, NormalizedBytes, NormalizedLong, OrderedBits, NormalizedValue}
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
final case class FilterColumn(sql: String, masked: String, dataType: DataType) {

  /** Whether the text holds a literal, which is a value of the data perhaps. */
  def hasLiterals: Boolean = sql != masked
}

object FilterColumn {

  /** None if nothing is known about the expression's values. */
  def of(e: Expression): Option[FilterColumn] =
    if (e.foldable || Normalization.of(e.dataType).isEmpty) None
    else
      ColumnPath.of(e) match {
        case Some(path) =>
          val sql = ColumnPath.sql(path)
          Some(FilterColumn(sql, sql, e.dataType))
        // some expressions have no text with other names in them
        case None if tellable(e) => Try(FilterColumn(text(e), text(masked(e)), e.dataType)).toOption
        case None => None
      }

  /**
   * User-defined functions print alike whatever they do, and LIKE ANY and LIKE ALL whatever their patterns
   * are; a subquery is another query's text.
   */
  private def tellable(e: Expression): Boolean = e.deterministic && e.references.nonEmpty && !e.exists {
    case _: SubqueryExpression | _: UserDefinedExpression | _: DynamicPruning | _: MultiLikeBase => true
    case _ => false
  }

  private def text(e: Expression): String =
    e.transform { case a: AttributeReference => a.withQualifier(Nil) }.sql

  /** The values of an InSet are no literals. */
  private def masked(e: Expression): Expression = e.transform {
    case i: InSet => In(i.child, Seq(AttributeReference("?", i.child.dataType)()))
    case l: Literal => AttributeReference("?", l.dataType)()
  }
}

/** The set algebra of conditions on one column. Intervals stay ascending and disjoint. */
private[zorder] object ConditionAlgebra {

  /** Every value and NULL. */
  val Anything: Condition = Condition(IndexedSeq(Interval.All), orNull = true)

  def and(a: Condition, b: Condition): Condition =
    Condition(both(a.intervals, b.intervals), a.orNull && b.orNull)

  def or(a: Condition, b: Condition): Condition =
    Condition(merged((a.intervals ++ b.intervals).sortWith(startsBefore)), a.orNull || b.orNull)

  /** One interval from the first value to the last one, whatever lies between. */
  def hull(c: Condition): Condition =
    if (c.intervals.size < 2) c
    else Condition(IndexedSeq(Interval(c.intervals.head.min, c.intervals.last.max)), c.orNull)

  /** The common part of two lists, in one pass: a list of values may have thousands. */
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
  private def end(a: Option[NormalizedValue], b: Option[NormalizedValue])(narrower: (
      NormalizedValue,
      NormalizedValue) => Boolean): Option[NormalizedValue] =
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
 * The next value above and below a value, which turn `<` and `>` into intervals with both ends included; None
 * if there is none on that side. Bytes are never guessed: files may hold strings that are no UTF-8, with any
 * byte at any place.
 */
private[zorder] object AdjacentValues {

  /** The least value above. */
  def above(normalized: NormalizedValue, dataType: DataType): Option[NormalizedValue] = normalized match {
    case NormalizedLong(v) => if (v >= domain(dataType)._2) None else Some(NormalizedLong(v + 1))
    case NormalizedBytes(b) =>
      if (isDecimal(dataType)) shifted(b, 1) else Some(NormalizedBytes(b :+ 0.toByte))
    case BelowBytes(b) => Some(NormalizedBytes(b))
  }

  /** The greatest value below; of byte strings the end of those below. */
  def below(normalized: NormalizedValue, dataType: DataType): Option[NormalizedValue] = normalized match {
    case NormalizedLong(v) => if (v <= domain(dataType)._1) None else Some(NormalizedLong(v - 1))
    case NormalizedBytes(b) if isDecimal(dataType) => shifted(b, -1)
    case NormalizedBytes(b) if b.isEmpty => None
    case NormalizedBytes(b) if b.last == 0 => Some(NormalizedBytes(b.init))
    case NormalizedBytes(b) => Some(BelowBytes(b))
    case _: BelowBytes => Some(normalized)
  }

  /** The least string above all that begin with these bytes; None if there is none. */
  def afterPrefix(prefix: Array[Byte]): Option[Array[Byte]] =
    prefix.lastIndexWhere(_ != -1) match {
      case -1 => None
      case last => Some(prefix.take(last) :+ (prefix(last) + 1).toByte)
    }

  /** The strings that begin with these bytes. */
  def withPrefix(prefix: Array[Byte]): Interval =
    Interval(Some(NormalizedBytes(prefix)), afterPrefix(prefix).map(BelowBytes(_)))

  /** The numbers that normalized values of a type can be. */
  def domain(dataType: DataType): (Long, Long) = dataType match {
    case BooleanType => (0L, 1L)
    case ByteType => (Byte.MinValue.toLong, Byte.MaxValue.toLong)
    case ShortType => (Short.MinValue.toLong, Short.MaxValue.toLong)
    case IntegerType | DateType | _: YearMonthIntervalType => (Int.MinValue.toLong, Int.MaxValue.toLong)
    case FloatType =>
      (OrderedBits.ofFloat(Float.NegativeInfinity), OrderedBits.ofFloat(Float.NaN))
    case DoubleType =>
      (OrderedBits.ofDouble(Double.NegativeInfinity), OrderedBits.ofDouble(Double.NaN))
    case _ => (Long.MinValue, Long.MaxValue)
  }

  private def isDecimal(dataType: DataType): Boolean = dataType.isInstanceOf[DecimalType]

  private def shifted(bytes: Array[Byte], by: Long): Option[NormalizedValue] =
    Some(NormalizedBytes(OrderedBits.ofBigInteger(ValueText.bigInteger(bytes).add(BigInteger.valueOf(by)))))
}

/**
 * Normalized values as text and back: what a cast to STRING in UTC gives; of BINARY, hexadecimal digits.
 * One whose text would not come back as the same value has none, as those of collated strings.
 */
private[zorder] object ValueText {
  private val Utc = Some("UTC")

  def of(normalized: NormalizedValue, dataType: DataType): Option[String] =
    Try(value(normalized, dataType).map(text(_, dataType))).toOption.flatten
      .filter(t => ValueText.normalize(t, dataType).contains(normalized))

  /** The normalized value of a text; None where the text is no value of the type. */
  def normalize(text: String, dataType: DataType): Option[NormalizedValue] =
    Normalization.of(dataType).flatMap { normalizedType =>
      val read = dataType match {
        case _ if text == null => None
        case BinaryType => Try(Hex.decodeHex(text)).toOption
        case _: StringType => Some(UTF8String.fromString(text))
        case _ => Try(Option(Cast(Literal(text), dataType, Utc, EvalMode.TRY).eval())).toOption.flatten
      }
      read.map(normalizedType.normalize)
    }

  /** The number that a normalized wide decimal is. */
  def bigInteger(normalized: Array[Byte]): BigInteger = {
    val bytes = normalized.clone()
    bytes(0) = (bytes(0) ^ 0x80).toByte
    new BigInteger(bytes)
  }

  /**
   * A value in Spark's internal representation that is normalized to this one; None for a number of more
   * digits than the decimal type has, which a file of another writer may name as a bound.
   */
  def value(normalized: NormalizedValue, dataType: DataType): Option[Any] = (normalized, dataType) match {
    case (NormalizedLong(v), BooleanType) => Some(v != 0)
    case (NormalizedLong(v), ByteType) => Some(v.toByte)
    case (NormalizedLong(v), ShortType) => Some(v.toShort)
    case (NormalizedLong(v), IntegerType | DateType | _: YearMonthIntervalType) => Some(v.toInt)
    case (NormalizedLong(v), FloatType) =>
      Some(java.lang.Float.intBitsToFloat(v.toInt ^ ((v.toInt >> 31) & Int.MaxValue)))
    case (NormalizedLong(v), DoubleType) =>
      Some(java.lang.Double.longBitsToDouble(v ^ ((v >> 63) & Long.MaxValue)))
    case (NormalizedLong(v), d: DecimalType) => Try(Decimal(v, d.precision, d.scale)).toOption
    case (NormalizedLong(v), _) => Some(v)
    case (NormalizedBytes(b), d: DecimalType) =>
      Try(Decimal(new java.math.BigDecimal(bigInteger(b), d.scale), d.precision, d.scale)).toOption
    case (NormalizedBytes(b), BinaryType) => Some(b)
    case (NormalizedBytes(b), s: StringType) if Normalization.isPlainString(s) =>
      Some(UTF8String.fromBytes(b))
    case _ => None
  }

  private def text(value: Any, dataType: DataType): String = (value, dataType) match {
    case (bytes: Array[Byte], _) => Hex.encodeHexString(bytes, false)
    case (string: UTF8String, _) => new String(string.getBytes, UTF_8)
    case _ => Cast(Literal.create(value, dataType), StringType, Utc, EvalMode.ANSI).eval().toString
  }
}

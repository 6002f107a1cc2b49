package org.apache.spark.sql.zorder.workload.predicate

import java.nio.charset.StandardCharsets.UTF_8

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, DoubleType, FloatType}
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.unsafe.types.UTF8String
import sparkzorder.curve.{BytesWord, Word}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * A predicate on one column: its comparison with constants.
 *
 * @param whenTrue
 *   the values for which it is true, or more
 * @param whenFalse
 *   the values for which it is false (not NULL), or more
 */
final private[workload] case class ColumnPredicate(
    column: BoxColumn,
    whenTrue: Condition,
    whenFalse: Condition) {
  def not: ColumnPredicate = ColumnPredicate(column, whenFalse, whenTrue)
}

private[workload] object ColumnPredicate {

  /** None where the expression is no such test. */
  def of(e: Expression): Option[ColumnPredicate] = e match {
    case IsNull(Column(c)) => Some(isNull(c))
    case IsNotNull(Column(c)) => Some(isNull(c).not)
    case EqualNullSafe(Column(c), v: Literal) => nullSafe(c, v)
    case EqualNullSafe(v: Literal, Column(c)) => nullSafe(c, v)
    case BinaryComparison(Column(c), v: Literal) => compared(e, c, v).orElse(truth(e))
    case BinaryComparison(v: Literal, Column(c)) => mirrored(e).flatMap(compared(_, c, v)).orElse(truth(e))
    case In(Column(c), list) if list.forall(_.isInstanceOf[Literal]) =>
      oneOf(c, list.map(_.asInstanceOf[Literal].value))
    case InSet(Column(c), values) => oneOf(c, values.toSeq)
    case StartsWith(Column(c), Text(prefix)) if AdjacentWords.isPlainString(c.dataType) =>
      Some(begins(c, prefix, exactly = true))
    case Like(Column(c), Text(pattern), escape) if AdjacentWords.isPlainString(c.dataType) =>
      like(c, new String(pattern, UTF_8), escape).orElse(truth(e))
    case _ => truth(e)
  }

  /** Any other truth value over the row: a column of its own. */
  private def truth(e: Expression): Option[ColumnPredicate] =
    if (e.dataType != BooleanType) None
    else BoxColumn.of(e).map(c =>
      ColumnPredicate(c, Condition.equal(word(c, true)), Condition.equal(word(c, false))))

  private def isNull(c: BoxColumn): ColumnPredicate =
    ColumnPredicate(c, Condition.IsNull, Condition.IsNotNull)

  private def nullSafe(c: BoxColumn, v: Literal): Option[ColumnPredicate] =
    if (v.value == null) Some(isNull(c))
    else if (v.dataType != c.dataType) None
    else {
      val a = equal(c, word(c, v.value))
      Some(a.copy(whenFalse = a.whenFalse.copy(orNull = true)))
    }

  private def compared(comparison: Expression, c: BoxColumn, v: Literal): Option[ColumnPredicate] =
    if (v.value == null) Some(ColumnPredicate(c, Condition.Impossible, Condition.Impossible))
    else if (v.dataType != c.dataType) None
    else {
      val w = word(c, v.value)
      comparison match {
        case _: EqualTo => Some(equal(c, w))
        case _: LessThan => Some(ColumnPredicate(c, below(c, w), ray(Some(w), None)))
        case _: GreaterThanOrEqual => Some(ColumnPredicate(c, ray(Some(w), None), below(c, w)))
        case _: GreaterThan => Some(ColumnPredicate(c, above(c, w), ray(None, Some(w))))
        case _: LessThanOrEqual => Some(ColumnPredicate(c, ray(None, Some(w)), above(c, w)))
        case _ => None
      }
    }

  private def equal(c: BoxColumn, w: Word): ColumnPredicate =
    ColumnPredicate(c, Condition.equal(w), Conditions.or(below(c, w), above(c, w)))

  /** `5 < a` as a test of a. */
  private def mirrored(comparison: Expression): Option[Expression] = comparison match {
    case e: EqualTo => Some(e)
    case LessThan(l, r) => Some(GreaterThan(r, l))
    case LessThanOrEqual(l, r) => Some(GreaterThanOrEqual(r, l))
    case GreaterThan(l, r) => Some(LessThan(r, l))
    case GreaterThanOrEqual(l, r) => Some(LessThanOrEqual(r, l))
    case _ => None
  }

  /** A list with a NULL in it is false for no value, but for NaN, which Spark's InSet does not find unknown. */
  private def oneOf(c: BoxColumn, values: Seq[Any]): Option[ColumnPredicate] = {
    val words = values.filter(_ != null).map(word(c, _))
    val inside = Condition.in(words)
    val outside =
      if (values.contains(null)) nan(c).fold(Condition.Impossible)(Condition.equal)
      else between(c, inside.intervals.flatMap(_.min))
    Some(ColumnPredicate(c, inside, outside))
  }

  private def nan(c: BoxColumn): Option[Word] = c.dataType match {
    case FloatType => Some(word(c, Float.NaN))
    case DoubleType => Some(word(c, Double.NaN))
    case _ => None
  }

  /** Everything but the given words, which ascend. */
  private def between(c: BoxColumn, words: IndexedSeq[Word]): Condition = {
    val gaps = (None +: words.map(Some(_))).zip(words.map(Some(_)) :+ None).flatMap { case (from, until) =>
      val low = from.map(AdjacentWords.above(_, c.dataType))
      val high = until.map(AdjacentWords.below(_, c.dataType))
      if (low.contains(None) || high.contains(None)) None
      else Some(ray(low.flatten, high.flatten)).filter(_ => ordered(low.flatten, high.flatten))
    }
    // they ascend, and a value lies between any two of them: there may be thousands, and nothing to join
    Condition(gaps.flatMap(_.intervals), orNull = false)
  }

  private def ordered(low: Option[Word], high: Option[Word]): Boolean = low.forall(l => high.forall(_ >= l))

  private def begins(c: BoxColumn, prefix: Array[Byte], exactly: Boolean): ColumnPredicate =
    if (prefix.isEmpty)
      ColumnPredicate(c, Condition.IsNotNull, if (exactly) Condition.Impossible else Condition.IsNotNull)
    else {
      val inside = Condition(IndexedSeq(AdjacentWords.withPrefix(prefix)), orNull = false)
      def after = AdjacentWords.afterPrefix(prefix)
        .fold(Condition.Impossible)(end => ray(Some(BytesWord(end)), None))
      val outside = if (exactly) Conditions.or(below(c, BytesWord(prefix)), after) else Condition.IsNotNull
      ColumnPredicate(c, inside, outside)
    }

  /** None where the pattern begins with anything. */
  private def like(c: BoxColumn, pattern: String, escape: Char): Option[ColumnPredicate] = {
    // Spark takes what is no UTF-8 for the character that stands for it, and finds that in a pattern
    val plain = pattern.takeWhile(ch => ch != '%' && ch != '_' && ch != escape && ch != '\ufffd')
    val bytes = plain.getBytes(UTF_8)
    if (plain == pattern) Some(equal(c, BytesWord(bytes)))
    else if (plain.isEmpty) None
    else Some(begins(c, bytes, exactly = pattern.drop(plain.length) == "%"))
  }

  private def above(c: BoxColumn, w: Word): Condition =
    AdjacentWords.above(w, c.dataType).fold(Condition.Impossible)(low => ray(Some(low), None))

  private def below(c: BoxColumn, w: Word): Condition =
    AdjacentWords.below(w, c.dataType).fold(Condition.Impossible)(high => ray(None, Some(high)))

  private def ray(min: Option[Word], max: Option[Word]): Condition =
    Condition(IndexedSeq(Interval(min, max)), orNull = false)

  private def word(c: BoxColumn, value: Any): Word = WordTypes.of(c.dataType).get.word(value)

  private object Column {
    def unapply(e: Expression): Option[BoxColumn] = BoxColumn.of(e)
  }

  private object Text {
    def unapply(e: Expression): Option[Array[Byte]] = e match {
      case Literal(s: UTF8String, _) => Some(s.getBytes)
      case _ => None
    }
  }
}

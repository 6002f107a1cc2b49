package org.apache.spark.sql.zorder.run.select

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.types.{BooleanType, DataType}
import org.apache.spark.sql.zorder.expr.{ColumnPath, WordTypes}
import sparkzorder.curve.{LongWord, Word, Zone}

/** What the footer of one file shows of a column: its bounds, and whether it may contain NULLs. */
final private[run] case class ColumnBounds(zone: Zone, mayBeNull: Boolean)

/**
 * Evaluates a condition over the statistics of one file. An expression that it does not know may have any value, so
 * a file in doubt is left alone (or taken, if the statement takes overlapping files).
 */
final private[run] class WhereEvaluator(bounds: Seq[String] => ColumnBounds) {

  def truth(e: Expression): WhereTruth = e match {
    case Literal(null, _) => WhereTruth.Null
    case Literal(value: Boolean, BooleanType) => WhereTruth.of(value)
    case And(l, r) => truth(l).and(truth(r))
    case Or(l, r) => truth(l).or(truth(r))
    case Not(child) => truth(child).not
    case IsNull(Column(path)) => isNull(bounds(path))
    case IsNotNull(Column(path)) => isNull(bounds(path)).not
    case In(c @ Column(path), list) if list.forall(_.isInstanceOf[Literal]) =>
      list.map(v => compared(c.dataType, bounds(path), v.asInstanceOf[Literal], WhereEvaluator.equal))
        .reduceOption(_ or _).getOrElse(WhereTruth.Any)
    case EqualNullSafe(Column(path), Literal(null, _)) => isNull(bounds(path))
    case EqualNullSafe(Literal(null, _), Column(path)) => isNull(bounds(path))
    case EqualNullSafe(c @ Column(path), v: Literal) =>
      compared(c.dataType, bounds(path), v, WhereEvaluator.equal).nullIsFalse
    case EqualNullSafe(v: Literal, c @ Column(_)) => truth(EqualNullSafe(c, v))
    case BinaryComparison(c @ Column(path), v: Literal) =>
      WhereEvaluator.test(e).map(compared(c.dataType, bounds(path), v, _)).getOrElse(WhereTruth.Any)
    case BinaryComparison(v: Literal, c @ Column(_)) =>
      WhereEvaluator.mirrored(e, c, v).map(truth).getOrElse(WhereTruth.Any)
    case c @ Column(path) if c.dataType == BooleanType =>
      compared(BooleanType, bounds(path), Literal(true), WhereEvaluator.equal)
    case _ => WhereTruth.Any
  }

  private def isNull(h: ColumnBounds): WhereTruth = h.zone match {
    case Zone.OnlyNulls => WhereTruth.True
    case _ => WhereTruth(mayBeTrue = h.mayBeNull, mayBeFalse = true, mayBeNull = false)
  }

  private def compared(
      dataType: DataType,
      h: ColumnBounds,
      literal: Literal,
      test: WhereEvaluator.Test): WhereTruth =
    if (literal.value == null || h.zone == Zone.OnlyNulls) WhereTruth.Null
    else
      WordTypes.of(dataType).filter(_ => literal.dataType == dataType).map(_.word(literal.value)) match {
        case Some(word) =>
          h.zone match {
            case Zone.Between(min, max) if min.isInstanceOf[LongWord] == word.isInstanceOf[LongWord] =>
              val (mayBeTrue, mayBeFalse) = test(min, max, word)
              WhereTruth(mayBeTrue, mayBeFalse, h.mayBeNull)
            case _ => WhereTruth(mayBeTrue = true, mayBeFalse = true, h.mayBeNull)
          }
        case None => WhereTruth.Any
      }

  private object Column {
    def unapply(e: Expression): Option[Seq[String]] = ColumnPath.of(e)
  }
}

private[run] object WhereEvaluator {

  /** For a column within `[min, max]` compared with a value: may that be true, may it be false? */
  type Test = (Word, Word, Word) => (Boolean, Boolean)

  val equal: Test = (min, max, v) => (min <= v && v <= max, !(min == v && max == v))
  private val less: Test = (min, max, v) => (min < v, max >= v)
  private val lessOrEqual: Test = (min, max, v) => (min <= v, max > v)

  private def opposite(test: Test): Test = (min, max, v) => test(min, max, v).swap

  def test(comparison: Expression): Option[Test] = comparison match {
    case _: EqualTo => Some(equal)
    case _: LessThan => Some(less)
    case _: LessThanOrEqual => Some(lessOrEqual)
    case _: GreaterThan => Some(opposite(lessOrEqual))
    case _: GreaterThanOrEqual => Some(opposite(less))
    case _ => None
  }

  /** `5 < a` as `a > 5`. */
  def mirrored(comparison: Expression, column: Expression, value: Literal): Option[Expression] =
    comparison match {
      case _: EqualTo => Some(EqualTo(column, value))
      case _: LessThan => Some(GreaterThan(column, value))
      case _: LessThanOrEqual => Some(GreaterThanOrEqual(column, value))
      case _: GreaterThan => Some(LessThan(column, value))
      case _: GreaterThanOrEqual => Some(LessThanOrEqual(column, value))
      case _ => None
    }
}

/** The truth values that a condition may take over the rows of a file: any that is not ruled out. */
final private[run] case class WhereTruth(mayBeTrue: Boolean, mayBeFalse: Boolean, mayBeNull: Boolean) {

  /** Every row of the file satisfies the condition. */
  def always: Boolean = mayBeTrue && !mayBeFalse && !mayBeNull

  def not: WhereTruth = WhereTruth(mayBeFalse, mayBeTrue, mayBeNull)

  /** SQL's three-valued AND, as if the two sides were independent. */
  def and(that: WhereTruth): WhereTruth = WhereTruth(
    mayBeTrue && that.mayBeTrue,
    mayBeFalse || that.mayBeFalse,
    (mayBeNull && (that.mayBeNull || that.mayBeTrue)) || (that.mayBeNull && mayBeTrue))

  def or(that: WhereTruth): WhereTruth = not.and(that.not).not

  /** A condition that is false where this one is NULL, as `<=>` is. */
  def nullIsFalse: WhereTruth = WhereTruth(mayBeTrue, mayBeFalse || mayBeNull, mayBeNull = false)
}

private[run] object WhereTruth {
  val Any: WhereTruth = WhereTruth(mayBeTrue = true, mayBeFalse = true, mayBeNull = true)
  val True: WhereTruth = WhereTruth(mayBeTrue = true, mayBeFalse = false, mayBeNull = false)
  val False: WhereTruth = True.not
  val Null: WhereTruth = WhereTruth(mayBeTrue = false, mayBeFalse = false, mayBeNull = true)

  def of(value: Boolean): WhereTruth = if (value) True else False
}

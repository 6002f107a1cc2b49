package org.apache.spark.sql.zorder.skip.aggregate

import org.apache.spark.sql.catalyst.expressions._
import org.apache.spark.sql.catalyst.expressions.aggregate._
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.sql.zorder.skip.index.{ColumnRanges, IndexedFiles}
import org.apache.spark.sql.zorder.workload.predicate.ValueText
import sparkzorder.curve.{LongWord, Word}

/** An aggregate that an index may answer, file by file. */
sealed private[aggregate] trait AskedAggregate {

  /** Whether the index has the exact answer over the file of that number, whose rows are counted. */
  def answers(file: Int): Boolean

  /** Over these files, each of which it answers. */
  def over(files: Seq[Int]): Any

  /** With the answer over other files. */
  def merged(known: Literal, other: Expression): Expression
}

/** `count(*)`, or `count(c)` with the ranges of c. */
final private[aggregate] case class AskedCount(files: IndexedFiles, ranges: Option[ColumnRanges])
    extends AskedAggregate {
  override def answers(file: Int): Boolean =
    ranges.forall(r => r.states(file) == ColumnRanges.OnlyNulls || r.nulls(file) >= 0)

  override def over(numbers: Seq[Int]): Any = numbers.map { f =>
    ranges match {
      case Some(r) if r.states(f) == ColumnRanges.OnlyNulls => 0L
      case Some(r) => files.rows(f) - r.nulls(f)
      case None => files.rows(f)
    }
  }.sum

  override def merged(known: Literal, other: Expression): Expression = Add(other, known)
}

/**
 * `min(c)` or `max(c)`. The ends of ranges are values of rows only for types of a fixed width: a bound of text may be
 * cut off, and one of floating-point numbers says nothing of NaN.
 */
final private[aggregate] case class AskedExtreme(ranges: ColumnRanges, least: Boolean)
    extends AskedAggregate {
  override def answers(file: Int): Boolean = ranges.states(file) match {
    case ColumnRanges.OnlyNulls => true
    case ColumnRanges.Bounded => value(ranges.words.min(first(file))).isDefined &&
      value(ranges.words.max(last(file))).isDefined
    case _ => false
  }

  override def over(numbers: Seq[Int]): Any = {
    val ends = numbers.filter(ranges.states(_) == ColumnRanges.Bounded)
      .map(f => if (least) ranges.words.min(first(f)) else ranges.words.max(last(f)))
    ends.reduceOption((a, b) => if (a < b == least) a else b).flatMap(value).orNull
  }

  override def merged(known: Literal, other: Expression): Expression =
    if (least) Least(Seq(other, known)) else Greatest(Seq(other, known))

  private def first(file: Int): Int = ranges.offsets(file)
  private def last(file: Int): Int = ranges.offsets(file + 1) - 1

  /** None for a number that the column's type cannot hold. */
  private def value(word: Word): Option[Any] = word match {
    case _: LongWord => ValueText.value(word, ranges.dataType)
        .filter(v => WordTypes.of(ranges.dataType).exists(_.word(v) == word))
    case _ => None
  }
}

private[aggregate] object AskedExtreme {

  /** Types whose bounds in files are values of rows. */
  def exact(dataType: DataType): Boolean = dataType match {
    case ByteType | ShortType | IntegerType | LongType | DateType | TimestampType | TimestampNTZType => true
    case d: DecimalType => d.precision <= Decimal.MAX_LONG_DIGITS
    case _ => false
  }
}

private[aggregate] object AskedAggregate {

  /**
   * None for an aggregate that no index answers.
   *
   * @param ranges
   *   of a column of the scan
   */
  def of(
      e: AggregateExpression,
      files: IndexedFiles,
      ranges: AttributeReference => Option[ColumnRanges]): Option[AskedAggregate] =
    if (e.isDistinct || e.filter.isDefined) None
    else
      e.aggregateFunction match {
        case Count(Seq(Literal(value, _))) if value != null => Some(AskedCount(files, None))
        case Count(Seq(a: AttributeReference)) => ranges(a).map(r => AskedCount(files, Some(r)))
        case Min(a: AttributeReference) if AskedExtreme.exact(a.dataType) =>
          ranges(a).map(AskedExtreme(_, least = true))
        case Max(a: AttributeReference) if AskedExtreme.exact(a.dataType) =>
          ranges(a).map(AskedExtreme(_, least = false))
        case _ => None
      }
}

package org.apache.spark.sql.zorder.workload.draw

import java.util.SplittableRandom

import org.apache.spark.sql.types.DataType
import org.apache.spark.sql.zorder.fit.{BytesSample, LongSample, SampleColumn}
import org.apache.spark.sql.zorder.workload.log.{ConditionKind, LoggedCondition}
import org.apache.spark.sql.zorder.workload.predicate.{AdjacentWords, ValueText}
import sparkzorder.curve.{BytesWord, LongWord, Word}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * A logged condition as a condition on words: with its own values if the log has them, else with values
 * drawn from sampled rows, so that frequent values are drawn more often.
 */
private[workload] object DrawnCondition {

  /** The width of a range if the log does not have it. */
  private val UnknownWidth = 0.1

  /** Whether the log has all values of the condition. */
  def isExact(c: LoggedCondition): Boolean = c.kind match {
    case ConditionKind.Equal | ConditionKind.In => c.values.nonEmpty
    case ConditionKind.Range => c.low.isDefined || c.high.isDefined
    case ConditionKind.Prefix => c.low.isDefined
    case _ => true
  }

  /** None if the values are unknown. */
  def exact(c: LoggedCondition, dataType: DataType): Option[Condition] = c.kind match {
    case ConditionKind.Null => Some(Condition.IsNull)
    case ConditionKind.NotNull => Some(Condition.IsNotNull)
    case ConditionKind.Equal | ConditionKind.In =>
      val words = c.values.map(ValueText.word(_, dataType))
      if (words.forall(_.isDefined)) Some(Condition.in(words.flatten)) else None
    case ConditionKind.Range =>
      range(c.low.map(ValueText.word(_, dataType)), c.high.map(ValueText.word(_, dataType)))
    case ConditionKind.Prefix => c.low.flatMap(ValueText.word(_, dataType)).collect {
        case BytesWord(bytes) => Condition(IndexedSeq(AdjacentWords.withPrefix(bytes)), orNull = false)
      }
    case _ => None
  }

  /**
   * @param row
   *   the sampled row that the query is about
   */
  def drawn(c: LoggedCondition, sample: SampleColumn, row: Int, random: SplittableRandom): Option[Condition] =
    if (sample.sorted.size == 0) None
    else c.kind match {
      case ConditionKind.Equal => Some(Condition.equal(value(sample, row, random)))
      case ConditionKind.In =>
        val more = Seq.fill(math.min(c.count.getOrElse(2), MostValues) - 1)(any(sample, random))
        Some(Condition.in(value(sample, row, random) +: more))
      case _ => Some(around(value(sample, row, random), share(c), sample, random))
    }

  private val MostValues = 1000

  private def share(c: LoggedCondition): Double =
    math.max(0.0, math.min(1.0, c.width.orElse(c.selectivity).getOrElse(UnknownWidth)))

  private def range(low: Option[Option[Word]], high: Option[Option[Word]]): Option[Condition] =
    if (low.contains(None) || high.contains(None)) None
    else (low.flatten, high.flatten) match {
      case (Some(l), Some(h)) => Some(Condition.between(l, h))
      case (l, h) => Some(Condition(IndexedSeq(Interval(l, h)), orNull = false))
    }

  /** A range of sampled values around the given one that holds this share of them. */
  private def around(word: Word, share: Double, sample: SampleColumn, random: SplittableRandom): Condition = {
    val sorted = sample.sorted
    val size = math.max(1, math.round(share * sorted.size).toInt)
    val place = sorted.countBetween(sorted(0), word) - 1
    val from = math.max(0, math.min(sorted.size - size, place - random.nextInt(size)))
    Condition.between(sorted(from), sorted(from + size - 1))
  }

  private def value(sample: SampleColumn, row: Int, random: SplittableRandom): Word =
    if (sample.isNull(row)) any(sample, random)
    else sample match {
      case s: LongSample => LongWord(s.words(row))
      case s: BytesSample => BytesWord(s.words(row))
    }

  private def any(sample: SampleColumn, random: SplittableRandom): Word =
    sample.sorted(random.nextInt(sample.sorted.size))
}

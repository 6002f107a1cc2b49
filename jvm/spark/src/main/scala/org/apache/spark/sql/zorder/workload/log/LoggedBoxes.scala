package org.apache.spark.sql.zorder.workload.log

import org.apache.spark.sql.zorder.workload.predicate.{
  AdjacentWords,
  BoxColumn,
  Boxes,
  Conditions,
  PredicateBox,
  ValueText
}
import org.apache.spark.sql.zorder.workload.scan.ColumnStatistics
import sparkzorder.curve.{BelowBytes, BytesWord, Word}
import sparkzorder.curve.cost.{Condition, Interval}

/** Converts boxes to the format of the log, where each condition is of one kind. */
private[workload] object LoggedBoxes {

  /** Up to this number of ranges of one column stay separate; more are merged into one. */
  private val MostRanges = 4

  /**
   * @param literals
   *   whether values are written down
   * @param facts
   *   what is known about a column's values
   */
  def of(boxes: Boxes, literals: Boolean, facts: BoxColumn => ColumnStatistics): Seq[Seq[LoggedCondition]] =
    simple(boxes).map { box =>
      box.conditions.toSeq.sortBy(_._1.sql).map { case (column, condition) =>
        logged(column, condition, literals, facts)
      }
    }.distinct

  /** Splits boxes so that each condition is a set of points, or one range, or NULL. */
  private def simple(boxes: Boxes): IndexedSeq[PredicateBox] = {
    val split = boxes.all.flatMap { box =>
      box.conditions.foldLeft(Vector(Map.empty[BoxColumn, Condition])) { case (done, (column, condition)) =>
        val more = parts(condition)
        if (done.size * more.size > Boxes.Most) done else done.flatMap(m => more.map(p => m + (column -> p)))
      }.map(PredicateBox(_))
    }
    if (split.exists(_.conditions.isEmpty)) Vector.empty else split
  }

  private def parts(condition: Condition): Seq[Condition] = {
    val (points, ranges) = condition.intervals.partition(isPoint)
    val few =
      if (ranges.size <= MostRanges) (if (points.isEmpty) Nil else Seq(points)) ++ ranges.map(IndexedSeq(_))
      else Seq(Conditions.hull(condition).intervals)
    few.map(Condition(_, orNull = false)) ++ (if (condition.orNull) Seq(Condition.IsNull) else Nil)
  }

  private def isPoint(i: Interval): Boolean = i.min.isDefined && i.min == i.max

  private def logged(
      column: BoxColumn,
      condition: Condition,
      literals: Boolean,
      facts: BoxColumn => ColumnStatistics): LoggedCondition = {
    val text = if (literals) column.sql else column.masked
    if (!literals && column.hasLiterals) LoggedCondition(text, ConditionKind.Other)
    else condition match {
      case Condition.IsNull =>
        LoggedCondition(text, ConditionKind.Null, selectivity = facts(column).nullShare)
      case Condition.IsNotNull =>
        LoggedCondition(text, ConditionKind.NotNull, selectivity = facts(column).nullShare.map(1 - _))
      case Condition(points, _) if points.forall(isPoint) =>
        val values = points.flatMap(_.min).map(ValueText.of(_, column.dataType))
        LoggedCondition(
          text,
          if (points.size == 1) ConditionKind.Equal else ConditionKind.In,
          count = if (points.size == 1) None else Some(points.size),
          selectivity = facts(column).selectivity(points.size),
          values = if (literals && values.forall(_.isDefined)) values.flatten else Nil)
      case Condition(ranges, _) => range(column, text, ranges.head, literals, facts(column))
    }
  }

  private def range(
      column: BoxColumn,
      text: String,
      range: Interval,
      literals: Boolean,
      facts: ColumnStatistics): LoggedCondition = {
    val width = facts.width(range)
    val known = LoggedCondition(text, ConditionKind.Range, width = width, selectivity = width)
    (prefix(column, range), range) match {
      case (Some(start), _) =>
        known.copy(kind = ConditionKind.Prefix, low = Some(start).filter(_ => literals))
      case (None, Interval(min, max)) if literals =>
        known.copy(low = min.flatMap(end(column, _)), high = max.flatMap(end(column, _)))
      case _ => known
    }
  }

  private def prefix(column: BoxColumn, range: Interval): Option[String] = range match {
    case Interval(Some(low @ BytesWord(bytes)), Some(_)) if range == AdjacentWords.withPrefix(bytes) =>
      ValueText.of(low, column.dataType)
    case _ => None
  }

  /** An end as text; of an interval that stops short of a string, that string. */
  private def end(column: BoxColumn, word: Word): Option[String] = word match {
    case BelowBytes(bytes) => ValueText.of(BytesWord(bytes), column.dataType)
    case _ => ValueText.of(word, column.dataType)
  }
}

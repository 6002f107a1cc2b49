package org.apache.spark.sql.zorder.querylog

import java.sql.Timestamp

import org.apache.commons.codec.binary.Hex
import org.apache.commons.codec.digest.DigestUtils
import org.apache.commons.lang3.StringUtils
import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.skipping.predicate.{
  AdjacentValues,
  FilterColumn,
  FilterRanges,
  ConditionAlgebra,
  FilterConjunction,
  ValueText
}
import org.apache.spark.sql.zorder.querylog.scan.{ColumnStatistics, Scan}
import sparkzorder.curve.{BelowBytes, NormalizedBytes, NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Condition, Interval}

/**
 * One condition of a logged query, a row of the innermost list of the format (docs/guide/query-log.md).
 *
 * @param column
 *   a column, a field of a struct or an expression, as SQL text
 * @param kind
 *   one of [[ConditionKind]]
 * @param count
 *   number of values of an `in`
 * @param width
 *   share of the column's range of values that a range or prefix covers, 0 to 1, if known
 * @param selectivity
 *   share of the rows that meet the condition, 0 to 1, if known
 * @param low
 *   lowest value of a range, or the prefix; None where it is open, or where literals are left out
 * @param values
 *   of an `equal` or `in`; empty where literals are left out
 */
final case class LoggedCondition(
    column: String,
    kind: String,
    count: Option[Int] = None,
    width: Option[Double] = None,
    selectivity: Option[Double] = None,
    low: Option[String] = None,
    high: Option[String] = None,
    values: Seq[String] = Nil) {

  /** Whether it asks anything that a layout can serve. That a key is not NULL, Spark itself asks for every join. */
  def asks: Boolean = kind != ConditionKind.NotNull
}

/** The kinds of conditions that a log has. */
object ConditionKind {
  val Equal = "equal"
  val In = "in"
  val Range = "range"
  val Prefix = "prefix"
  val Null = "null"
  val NotNull = "not_null"
  val Other = "other"

  val all: Seq[String] = Seq(Equal, In, Range, Prefix, Null, NotNull, Other)
}

/**
 * One query on one table, or many that look alike.
 *
 * @param table
 *   name with its catalog, or a path; None where the log is about one table only
 * @param query
 *   a hash of what the query asks: equal for queries that look alike
 * @param weight
 *   how often it was asked
 * @param conjunctions
 *   the filter: conditions that hold together, of which one list suffices
 */
final case class LoggedQuery(
    table: Option[String],
    time: Option[Timestamp],
    query: String,
    weight: Double,
    conjunctions: Seq[Seq[LoggedCondition]]) {

  /** The conditions of all conjunctions that a layout can serve. */
  def asked: Seq[LoggedCondition] = conjunctions.flatten.filter(_.asks)
}

object LoggedQuery {
  private val condition = new StructType()
    .add("column", StringType).add("kind", StringType).add("count", IntegerType)
    .add("width", DoubleType).add("selectivity", DoubleType)
    .add("low", StringType).add("high", StringType).add("values", ArrayType(StringType))

  /** The columns of a query log, in their order. */
  val schema: StructType = new StructType()
    .add("table", StringType).add("time", TimestampType).add("query", StringType)
    .add("weight", DoubleType).add("boxes", ArrayType(ArrayType(condition)))

  def row(q: LoggedQuery): Row =
    Row(q.table.orNull, q.time.orNull, q.query, q.weight, q.conjunctions.map(_.map(conditionRow)))

  private def conditionRow(c: LoggedCondition): Row = Row(
    c.column,
    c.kind,
    c.count.map(Int.box).orNull,
    c.width.map(Double.box).orNull,
    c.selectivity.map(Double.box).orNull,
    c.low.orNull,
    c.high.orNull,
    if (c.values.isEmpty) null else c.values)
}

/** Makes rows of the log: what looks alike gets the same hash, so that it can be counted. */
private[querylog] object QueryShape {

  def logged(table: String, time: Timestamp, conjunctions: Seq[Seq[LoggedCondition]]): LoggedQuery =
    LoggedQuery(Some(table), Some(time), hash(table, conjunctions), 1.0, conjunctions)

  /** Sixteen hexadecimal digits. */
  def hash(table: String, conjunctions: Seq[Seq[LoggedCondition]]): String =
    Hex.encodeHexString(DigestUtils.sha256(s"$table\n$conjunctions").take(8))

  /** Equal queries once, their weights together; the earliest of each is kept, in order of appearance. */
  def counted(queries: Seq[LoggedQuery]): Seq[LoggedQuery] = {
    val weights = queries.groupBy(q => (q.table, q.query)).map { case (k, same) =>
      k -> same.map(_.weight).sum
    }
    val first = scala.collection.mutable.HashSet.empty[(Option[String], String)]
    queries.filter(q => first.add((q.table, q.query))).map(q => q.copy(weight = weights((q.table, q.query))))
  }
}

/** Logged queries as people read them, without values: `a = ? AND b BETWEEN ? AND ?`. */
private[zorder] object QueryText {
  private val MostCharacters = 300

  def of(q: LoggedQuery): String = shown(whole(q))

  /** Equal for queries that ask the same columns in the same way, and for no others. */
  def whole(q: LoggedQuery): String = {
    val conjunctions = q.conjunctions.map(_.map(condition).distinct.sorted).distinct
    val texts = conjunctions.map { conditions =>
      val all = conditions.mkString(" AND ")
      if (conjunctions.size > 1 && conditions.size > 1) s"($all)" else all
    }.distinct
    texts.sorted.mkString(" OR ")
  }

  /** Cut where it is too long to read. */
  def shown(whole: String): String = StringUtils.abbreviate(whole, " ...", MostCharacters)

  private def condition(c: LoggedCondition): String = c.kind match {
    case ConditionKind.Equal => s"${c.column} = ?"
    case ConditionKind.In => s"${c.column} IN (?)"
    case ConditionKind.Range if c.low.isDefined && c.high.isEmpty => s"${c.column} >= ?"
    case ConditionKind.Range if c.low.isEmpty && c.high.isDefined => s"${c.column} <= ?"
    case ConditionKind.Range => s"${c.column} BETWEEN ? AND ?"
    case ConditionKind.Prefix => s"${c.column} LIKE '?%'"
    case ConditionKind.Null => s"${c.column} IS NULL"
    case ConditionKind.NotNull => s"${c.column} IS NOT NULL"
    case _ => s"${c.column}: ?"
  }
}

/** Converts ranges to the format of the log, where each condition is of one kind. */
private[zorder] object LoggedRanges {

  /** Up to this number of ranges of one column stay separate; more are merged into one. */
  private val MostRanges = 4

  /**
   * @param literals
   *   whether values are written down
   * @param facts
   *   what is known about a column's values
   */
  def of(
      ranges: FilterRanges,
      literals: Boolean,
      facts: FilterColumn => ColumnStatistics): Seq[Seq[LoggedCondition]] =
    simple(ranges).map { conjunction =>
      conjunction.conditions.toSeq.sortBy(_._1.sql).map { case (column, condition) =>
        logged(column, condition, literals, facts)
      }
    }.distinct

  /** Splits ranges so that each condition is a set of points, or one range, or NULL. */
  private def simple(ranges: FilterRanges): IndexedSeq[FilterConjunction] = {
    val split = ranges.all.flatMap { conjunction =>
      conjunction.conditions.foldLeft(Vector(Map.empty[FilterColumn, Condition])) {
        case (done, (column, condition)) =>
          val more = parts(condition)
          if (done.size * more.size > FilterRanges.Most) done
          else done.flatMap(m => more.map(p => m + (column -> p)))
      }.map(FilterConjunction(_))
    }
    if (split.exists(_.conditions.isEmpty)) Vector.empty else split
  }

  private def parts(condition: Condition): Seq[Condition] = {
    val (points, ranges) = condition.intervals.partition(_.isPoint)
    val few =
      if (ranges.size <= MostRanges) (if (points.isEmpty) Nil else Seq(points)) ++ ranges.map(IndexedSeq(_))
      else Seq(ConditionAlgebra.hull(condition).intervals)
    few.map(Condition(_, orNull = false)) ++ (if (condition.orNull) Seq(Condition.IsNull) else Nil)
  }

  /** A condition of one kind. */
  private[querylog] def logged(
      column: FilterColumn,
      condition: Condition,
      literals: Boolean,
      facts: FilterColumn => ColumnStatistics): LoggedCondition = {
    val text = if (literals) column.sql else column.masked
    if (!literals && column.hasLiterals) LoggedCondition(text, ConditionKind.Other)
    else condition match {
      case Condition.IsNull =>
        LoggedCondition(text, ConditionKind.Null, selectivity = facts(column).nullShare)
      case Condition.IsNotNull =>
        LoggedCondition(text, ConditionKind.NotNull, selectivity = facts(column).nullShare.map(1 - _))
      case Condition(points, _) if points.forall(_.isPoint) =>
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
      column: FilterColumn,
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

  private def prefix(column: FilterColumn, range: Interval): Option[String] = range match {
    case Interval(Some(low @ NormalizedBytes(bytes)), Some(_)) if range == AdjacentValues.withPrefix(bytes) =>
      ValueText.of(low, column.dataType)
    case _ => None
  }

  /** An end as text; of an interval that stops short of a string, that string. */
  private def end(column: FilterColumn, normalized: NormalizedValue): Option[String] = normalized match {
    case BelowBytes(bytes) => ValueText.of(NormalizedBytes(bytes), column.dataType)
    case _ => ValueText.of(normalized, column.dataType)
  }
}

/** Converts the keys with which a query has joined a column. */
private[querylog] object LoggedKeys {

  /** More keys, in all alternatives of a filter together, become the range from the least to the greatest. */
  private val MostListed = 200

  /** A wider range asks nothing. */
  private val Everything = 0.9

  /**
   * The conjunctions of a scan's filters with its keys in each of them. Without values, numbers have one digit, so that
   * queries that differ by the month they ask for still look alike.
   */
  def beside(
      filters: Seq[Seq[LoggedCondition]],
      scan: Scan,
      literals: Boolean,
      facts: FilterColumn => ColumnStatistics): Seq[Seq[LoggedCondition]] = {
    val conjunctions = if (filters.isEmpty) Seq(Nil) else filters
    val keys = for {
      (column, values) <- scan.keys
      condition = LoggedRanges.logged(
        column,
        conditionOf(values, MostListed / conjunctions.length),
        literals,
        facts)
      if condition.width.forall(_ < Everything)
    } yield if (literals) condition else vague(condition)
    def isSaid(c: LoggedCondition): Boolean =
      c.kind == ConditionKind.NotNull && keys.exists(_.column == c.column)
    if (keys.isEmpty) filters else conjunctions.map(_.filterNot(isSaid) ++ keys).distinct
  }

  private def conditionOf(sorted: IndexedSeq[NormalizedValue], most: Int): Condition = {
    val isRun = (sorted.head, sorted.last) match {
      case (NormalizedLong(min), NormalizedLong(max)) => sorted.length > 1 && max - min == sorted.length - 1L
      case _ => false
    }
    if (isRun || sorted.length > most) Condition.between(sorted.head, sorted.last) else Condition.in(sorted)
  }

  private def vague(c: LoggedCondition): LoggedCondition = c.copy(
    count = c.count.map(n => ColumnStatistics.rounded(n.toDouble, digits = 1).toInt),
    width = c.width.map(ColumnStatistics.rounded(_, digits = 1)),
    selectivity = c.selectivity.map(ColumnStatistics.rounded(_, digits = 1)))
}

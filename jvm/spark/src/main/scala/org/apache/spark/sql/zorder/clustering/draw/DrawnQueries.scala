package org.apache.spark.sql.zorder.clustering.draw

import java.util.SplittableRandom
import java.util.concurrent.ConcurrentHashMap

import org.apache.spark.sql.types.{DataType, StructType}
import org.apache.spark.sql.zorder.clustering.fit.{BytesSample, LongSample, Sample, SampleColumn}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.querylog.{
  ConditionKind,
  LoggedCondition,
  LoggedQuery,
  QueryLog,
  QueryText
}
import org.apache.spark.sql.zorder.skipping.predicate.{
  AdjacentValues,
  ConditionAlgebra,
  FilterColumn,
  MonotoneFunction,
  ValueText
}
import sparkzorder.curve.{NormalizedBytes, NormalizedLong, NormalizedValue}
import sparkzorder.curve.cost.{Conjunction, Condition, Interval, Query}

/**
 * The queries of a log on one table as conjunctions over some of its columns.
 *
 * @param shapes
 *   weights add up to 1; conditions on other columns are left out, which makes a query larger, never smaller
 * @param others
 *   other columns in the queries' filters with their share of the log's weight, the largest first
 */
final case class DrawnQueries(shapes: IndexedSeq[QueryGroup], others: Seq[(String, Double)]) {
  def queries: IndexedSeq[Query] = shapes.flatMap(_.queries)
}

/**
 * Queries with the same kinds of conditions on the same columns.
 *
 * @param text
 *   the filter without its values
 */
final case class QueryGroup(text: String, queries: IndexedSeq[Query]) {
  def weight: Double = queries.map(_.weight).sum
}

object DrawnQueries {

  /** The number of queries drawn from a log that has no values or more queries than this. */
  val Queries = 400

  /**
   * Deterministic for the same log and sample.
   *
   * @param log
   *   of this table alone ([[QueryLog.on]])
   * @param columns
   *   columns or expressions as SQL text; a query has them by their place in this list
   * @param sample
   *   sampled rows with these columns in this order; used where the log has no values
   */
  def of(
      session: ClassicSession,
      schema: StructType,
      log: QueryLog,
      columns: Seq[String],
      sample: Sample): DrawnQueries = drawing(session, schema, log, columns)(sample)

  /** Draws for several samples, such as those of a table's partitions. Columns are looked up once. */
  def drawing(
      session: ClassicSession,
      schema: StructType,
      log: QueryLog,
      columns: Seq[String]): Sample => DrawnQueries =
    drawing(log, LogColumns.of(session, schema, log), columns.map(ResolvedColumn.of(session, schema, _)))

  /** Draws for several samples from a log whose columns have been looked up. */
  private[zorder] def drawing(
      log: QueryLog,
      logged: LogColumns,
      columns: Seq[Option[ResolvedColumn]]): Sample => DrawnQueries = {
    val places = new LoggedPlaces(columns.toIndexedSeq, logged.byText)
    val all = log.queries.map(_.weight).sum
    // the same for every sample, of which a table has one for each partition
    val chosen = spread(log.queries.toIndexedSeq, all, places.isExact)
    val texts = chosen.map { case (q, _, _) => QueryText.whole(q) }
    val shapes = texts.distinct.map(text => text -> chosen.indices.filter(texts(_) == text).map(chosen(_)))
    val others = places.others(log.queries, all)
    sample => {
      val pick = new QueryDrawing(places, sample)
      val groups = shapes.map { case (text, same) =>
        val queries = same.flatMap { case (q, weight, times) => pick.queries(q, weight, times) }
        QueryGroup(QueryText.shown(text), queries)
      }
      DrawnQueries(groups, others)
    }
  }

  /** Each query with its weight and the number of times to draw it. */
  private def spread(
      queries: IndexedSeq[LoggedQuery],
      all: Double,
      isExact: LoggedQuery => Boolean): IndexedSeq[(LoggedQuery, Double, Int)] =
    if (queries.size <= Queries)
      queries.map { q =>
        val share = q.weight / all
        (q, share, if (isExact(q)) 1 else math.max(1, math.round(share * Queries).toInt))
      }
    else {
      val until = queries.scanLeft(0.0)(_ + _.weight).tail
      val hits = (0 until Queries).map { i =>
        val at = until.indexWhere(_ > (i + 0.5) / Queries * all)
        if (at < 0) queries.size - 1 else at
      }
      hits.groupBy(i => i).toIndexedSeq.sortBy(_._1).map { case (i, same) =>
        (queries(i), same.size.toDouble / Queries, if (isExact(queries(i))) 1 else same.size)
      }
    }
}

/**
 * Which columns the conditions of a log are on.
 *
 * @param asked
 *   the columns of the conjunctions; None for a column that no log can name
 * @param resolved
 *   the columns of the log by their text
 */
final private class LoggedPlaces(
    val asked: IndexedSeq[Option[ResolvedColumn]],
    resolved: Map[String, ResolvedColumn]) {

  /** Whether the log has all values of the query, for the columns of the conjunctions. */
  def isExact(q: LoggedQuery): Boolean =
    q.conjunctions.flatten.forall(c => placeOf(c).isEmpty || DrawnCondition.isExact(c))

  /**
   * Columns outside of these that queries have conditions on, with the share of the weight of these queries.
   * A function that keeps the order of a column asks for that column, too, if the log has its values.
   */
  def others(queries: Seq[LoggedQuery], all: Double): Seq[(String, Double)] = {
    val each = for {
      q <- queries
      column <- q.asked.filter(placeOf(_).isEmpty).flatMap(others(_)).distinct
    } yield column -> q.weight / all
    each.groupBy(_._1).map { case (column, shares) => column -> shares.map(_._2).sum }.toSeq
      .sortBy { case (column, share) => (-share, column) }
  }

  private def others(c: LoggedCondition): Seq[String] =
    resolved.get(c.column).fold(c.column)(_.column.sql) +: columnOf(c).filter(isOther).map(_.sql).toSeq

  /** A condition on a computed column: `status = 'OPEN'` determines `upper(status)`. */
  def computed(place: Int, logged: LoggedCondition): Option[Condition] =
    for {
      wanted <- asked(place)
      other <- resolved.get(logged.column)
      if other.column != wanted.column
      known <- DrawnCondition.exact(logged, other.column.dataType)
      points = known.intervals.flatMap(_.min)
      if !known.orNull && known.intervals.forall(_.isPoint)
      condition <- wanted.from(other, points)
    } yield condition

  /** A condition on the column of a function that keeps order: `CAST(ts AS DATE) = d` is a range of `ts`. */
  def ofFunction(logged: LoggedCondition): Option[(Int, Condition)] =
    if (columnOf(logged).forall(isOther)) None else ofFunctions.computeIfAbsent(logged, c => onColumn(c))

  // each is found by some hundred evaluations, and asked for again with each sample
  private val ofFunctions = new ConcurrentHashMap[LoggedCondition, Option[(Int, Condition)]]

  private def onColumn(logged: LoggedCondition): Option[(Int, Condition)] =
    for {
      other <- resolved.get(logged.column)
      function <- functions.get(logged.column)
      known <- DrawnCondition.exact(logged, other.column.dataType)
      condition <- function.usually(known)
    } yield numberOf(function.column) -> condition

  /** By their texts. */
  private val functions: Map[String, MonotoneFunction] = resolved.toSeq.flatMap { case (text, r) =>
    MonotoneFunction.of(r.expression).map(text -> _)
  }.toMap

  /** None where the log has no values, or the condition is on no such function. */
  private def columnOf(c: LoggedCondition): Option[FilterColumn] =
    if (!DrawnCondition.isExact(c) || c.kind == ConditionKind.Other) None
    else functions.get(c.column).map(_.column)

  private def isOther(column: FilterColumn): Boolean = numberOf(column) < 0

  private def numberOf(column: FilterColumn): Int = asked.indexWhere(_.exists(_.column == column))

  def placeOf(c: LoggedCondition): Option[Int] =
    resolved.get(c.column).map(r => numberOf(r.column)).filter(_ >= 0)
}

/** Turns logged queries into conjunctions; draws the values that the log does not have. */
final private class QueryDrawing(places: LoggedPlaces, sample: Sample) {
  import places.{asked, computed, ofFunction, placeOf}

  def queries(q: LoggedQuery, weight: Double, times: Int): Seq[Query] = {
    val random = new SplittableRandom(q.query.hashCode.toLong)
    (0 until times).map(_ => Query(conjunctions(q, random), weight / times))
  }

  private def conjunctions(q: LoggedQuery, random: SplittableRandom): IndexedSeq[Conjunction] = {
    val row = if (sample.rows == 0) 0 else random.nextInt(sample.rows)
    val all =
      q.conjunctions.map(c => Conjunction(conditions(c, row, random))).filterNot(_.impossible).distinct
    all.find(_.conditions.isEmpty).fold(all)(Seq(_)).toIndexedSeq
  }

  private def conditions(
      together: Seq[LoggedCondition],
      row: Int,
      random: SplittableRandom): Map[Int, Condition] = {
    val direct = for {
      logged <- together
      place <- placeOf(logged)
      condition <- condition(logged, place, row, random)
    } yield place -> condition
    val derived = for {
      place <- asked.indices
      logged <- together
      condition <- computed(place, logged)
    } yield place -> condition
    (direct ++ derived ++ together.flatMap(ofFunction(_))).groupBy(_._1).map { case (place, all) =>
      place -> all.map(_._2).reduce(ConditionAlgebra.and)
    }
  }

  private def condition(
      logged: LoggedCondition,
      place: Int,
      row: Int,
      random: SplittableRandom): Option[Condition] =
    if (DrawnCondition.isExact(logged)) DrawnCondition.exact(logged, asked(place).get.column.dataType)
    else DrawnCondition.drawn(logged, sample.columns(place), row, random)
}

/**
 * A logged condition as a condition on normalized values: with its own values if the log has them, else with
 * values drawn from sampled rows, so that frequent values are drawn more often.
 */
private[zorder] object DrawnCondition {

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
      val normalized = c.values.map(ValueText.normalize(_, dataType))
      if (normalized.forall(_.isDefined)) Some(Condition.in(normalized.flatten)) else None
    case ConditionKind.Range =>
      range(c.low.map(ValueText.normalize(_, dataType)), c.high.map(ValueText.normalize(_, dataType)))
    case ConditionKind.Prefix => c.low.flatMap(ValueText.normalize(_, dataType)).collect {
        case NormalizedBytes(bytes) => Condition(IndexedSeq(AdjacentValues.withPrefix(bytes)), orNull = false)
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

  private def range(
      low: Option[Option[NormalizedValue]],
      high: Option[Option[NormalizedValue]]): Option[Condition] =
    if (low.contains(None) || high.contains(None)) None
    else (low.flatten, high.flatten) match {
      case (Some(l), Some(h)) => Some(Condition.between(l, h))
      case (l, h) => Some(Condition(IndexedSeq(Interval(l, h)), orNull = false))
    }

  /** A range of sampled values around the given one that holds this share of them. */
  private def around(
      normalized: NormalizedValue,
      share: Double,
      sample: SampleColumn,
      random: SplittableRandom): Condition = {
    val sorted = sample.sorted
    val size = math.max(1, math.round(share * sorted.size).toInt)
    val place = sorted.countBetween(sorted(0), normalized) - 1
    val from = math.max(0, math.min(sorted.size - size, place - random.nextInt(size)))
    Condition.between(sorted(from), sorted(from + size - 1))
  }

  private def value(sample: SampleColumn, row: Int, random: SplittableRandom): NormalizedValue =
    if (sample.isNull(row)) any(sample, random)
    else sample match {
      case s: LongSample => NormalizedLong(s.normalized(row))
      case s: BytesSample => NormalizedBytes(s.normalized(row))
    }

  private def any(sample: SampleColumn, random: SplittableRandom): NormalizedValue =
    sample.sorted(random.nextInt(sample.sorted.size))
}

package org.apache.spark.sql.zorder.workload.draw

import java.util.SplittableRandom

import org.apache.spark.sql.zorder.fit.Sample
import org.apache.spark.sql.zorder.workload.log.{LoggedCondition, LoggedQuery}
import org.apache.spark.sql.zorder.workload.predicate.Conditions
import sparkzorder.curve.cost.{Box, Condition, Query}

/**
 * Turns logged queries into boxes; draws the values that the log does not have.
 *
 * @param asked
 *   the columns of the boxes; None for a column that no log can name
 * @param resolved
 *   the columns of the log by their text
 */
final private[workload] class QueryDrawing(
    asked: IndexedSeq[Option[AskedColumn]],
    resolved: Map[String, AskedColumn],
    sample: Sample) {

  /** Whether the log has all values of the query, for the columns of the boxes. */
  def isExact(q: LoggedQuery): Boolean =
    q.boxes.flatten.forall(c => placeOf(c).isEmpty || DrawnCondition.isExact(c))

  def queries(q: LoggedQuery, weight: Double, times: Int): Seq[Query] = {
    val random = new SplittableRandom(q.query.hashCode.toLong)
    (0 until times).map(_ => Query(boxes(q, random), weight / times))
  }

  /** Columns outside of the boxes that queries have conditions on, with the share of the weight of these queries. */
  def others(queries: Seq[LoggedQuery], all: Double): Seq[(String, Double)] = {
    val each = for {
      q <- queries
      column <- q.boxes.flatten.filter(placeOf(_).isEmpty).map(c =>
        resolved.get(c.column).fold(c.column)(_.column.sql)).distinct
    } yield column -> q.weight / all
    each.groupBy(_._1).map { case (column, shares) => column -> shares.map(_._2).sum }.toSeq
      .sortBy { case (column, share) => (-share, column) }
  }

  private def boxes(q: LoggedQuery, random: SplittableRandom): IndexedSeq[Box] = {
    val row = if (sample.rows == 0) 0 else random.nextInt(sample.rows)
    val all = q.boxes.map(b => Box(conditions(b, row, random))).filterNot(_.impossible).distinct
    all.find(_.conditions.isEmpty).fold(all)(Seq(_)).toIndexedSeq
  }

  private def conditions(
      box: Seq[LoggedCondition],
      row: Int,
      random: SplittableRandom): Map[Int, Condition] = {
    val direct = for {
      logged <- box
      place <- placeOf(logged)
      condition <- condition(logged, place, row, random)
    } yield place -> condition
    val derived = for {
      place <- asked.indices
      logged <- box
      condition <- computed(place, logged)
    } yield place -> condition
    (direct ++ derived).groupBy(_._1).map { case (place, all) =>
      place -> all.map(_._2).reduce(Conditions.and)
    }
  }

  private def condition(
      logged: LoggedCondition,
      place: Int,
      row: Int,
      random: SplittableRandom): Option[Condition] =
    if (DrawnCondition.isExact(logged)) DrawnCondition.exact(logged, asked(place).get.column.dataType)
    else DrawnCondition.drawn(logged, sample.columns(place), row, random)

  /** A condition on a computed column: `status = 'OPEN'` determines `upper(status)`. */
  private def computed(place: Int, logged: LoggedCondition): Option[Condition] =
    for {
      wanted <- asked(place)
      other <- resolved.get(logged.column)
      if other.column != wanted.column
      known <- DrawnCondition.exact(logged, other.column.dataType)
      points = known.intervals.flatMap(_.min)
      if !known.orNull && known.intervals.forall(i => i.min.isDefined && i.min == i.max)
      condition <- wanted.from(other, points)
    } yield condition

  private def placeOf(c: LoggedCondition): Option[Int] =
    resolved.get(c.column).map(r => asked.indexWhere(_.exists(_.column == r.column))).filter(_ >= 0)
}

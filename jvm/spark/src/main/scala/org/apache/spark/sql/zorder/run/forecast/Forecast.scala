package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.fit.{LeastReads, Levels, ReadEstimator, ReadShares}
import org.apache.spark.sql.zorder.run.inspect.TrackedColumns
import org.apache.spark.sql.zorder.run.report.{
  AlternativeReport,
  ColumnReport,
  HumanReadable,
  OtherReport,
  QueryReport,
  ReadAt,
  ReadReport,
  Shares
}
import org.apache.spark.sql.zorder.workload.draw.QueryGroup
import sparkzorder.curve.build.Candidate

/** What is read: per column that a run samples, and per group of queries of its log. */
final private[run] case class Readings(columns: IndexedSeq[ReadShares], queries: IndexedSeq[ReadShares])

/**
 * What look-ups and the queries of the log read now, what they are expected to read after the run, what is measured
 * then, and the least that is possible.
 *
 * @param asOneMore
 *   by the place of a watched column that gets worse, its share if the table were clustered by it too
 * @param alternatives
 *   the table as it is, the layouts that were compared, the bound
 */
final private[run] case class Forecast(
    tracked: TrackedColumns,
    gauge: ReadEstimator,
    groups: IndexedSeq[QueryGroup],
    now: Readings,
    expected: Readings,
    bound: Readings,
    asOneMore: Map[Int, Double],
    alternatives: Seq[Candidate],
    measured: Option[Readings] = None) {

  /** With what is read of the blocks that the run has written. */
  def measuredOn(levels: Levels): Forecast = copy(measured = Some(Forecast.read(gauge, levels)))

  /** As the result shows it. */
  def report: ReadReport =
    ReadReport(columns, queries, others, alternatives.map(c => AlternativeReport(c.name, c.files, c.pages)))

  def columns: Seq[ColumnReport] = tracked.clustering.indices.map { c =>
    val read = column(c)
    def at(level: ReadShares => Double): Shares = {
      val shares = read.at(level)
      shares.copy(bound = standing(level).flatMap(part => shares.bound.map(_ * part)))
    }
    ColumnReport(tracked.all(c).sql, at(_.files), at(_.rowGroups), at(_.pages))
  }

  def others: Seq[OtherReport] = tracked.watchedPlaces.map { c =>
    OtherReport(tracked.all(c).sql, column(c).at(_.files), asOneMore.get(c))
  }

  def queries: Seq[QueryReport] =
    groups.indices.sortBy(g => -groups(g).weight).take(QueryReport.Most).map { g =>
      val read = ReadAt(
        Some(now.queries(g)),
        Some(expected.queries(g)),
        measured.map(_.queries(g)),
        Some(bound.queries(g)))
      def at(level: ReadShares => Double): Shares = read.at(level).copy(bound =
        LeastReads.unlessBeaten(level(bound.queries(g)), known.map(r => level(r.queries(g)))))
      QueryReport(groups(g).text, groups(g).weight, at(_.files), at(_.rowGroups), at(_.pages))
    }

  /** What a layout is known to read, if only by forecast. */
  private def known: Seq[Readings] = expected +: measured.toSeq

  /** The bound is one of the mean over the columns: the part of it that no layout is known to beat. */
  private def standing(level: ReadShares => Double): Option[Double] = {
    def all(of: Readings): Double = tracked.clustering.indices.map(c => level(of.columns(c))).sum
    LeastReads.unlessBeaten(all(bound), known.map(all)).map(_ / math.max(1e-9, all(bound)))
  }

  /** Files have no statistics of an expression: only the forecast of where its values will be is known. */
  private def column(c: Int): ReadAt = {
    val stored = tracked.stored(c).isDefined
    ReadAt(
      Some(now.columns(c)).filter(_ => stored),
      Some(expected.columns(c)),
      measured.map(_.columns(c)).filter(_ => stored),
      Some(bound.columns(c)))
  }

  def logged: Boolean = groups.exists(_.weight > 0)

  /** Mean share read, by the log or else by look-ups in the clustering columns. */
  private def mean(of: Readings, level: ReadShares => Double): Double =
    if (logged) {
      groups.indices.map(g => groups(g).weight * level(of.queries(g))).sum / groups.map(_.weight).sum
    } else if (tracked.judged.isEmpty) 0.0
    else tracked.judged.map(c => level(of.columns(c))).sum / tracked.judged.length

  /** Fall of the mean share read, files and pages alike; 0.5 = half as much is read, below 0 = more is. */
  val gain: Double = {
    val before = mean(now, _.cost)
    if (before == 0) 0.0 else 1.0 - mean(expected, _.cost) / before
  }

  /** How much more than the bound is read now; 1 = nothing could read less. */
  def nowToBound: Double = mean(now, _.cost) / math.max(1e-9, mean(bound, _.cost))

  def summary: String = {
    val each = columns.map(c => s"${c.name}: files ${c.files.text}, pages ${c.pages.text}")
      .mkString("a look-up reads, by ", "; by ", "")
    each + (if (logged) s"; the queries of the log: files ${change(_.files)}, pages ${change(_.pages)}"
            else "")
  }

  /** What the reason of a run adds if columns get worse. */
  def warning: String = {
    val worse = others.filter(_.getsWorse)
    rises + (if (worse.isEmpty) "" else s" GETS WORSE: look-ups by ${worse.map(_.text).mkString(", ")}.")
  }

  /** The mean may fall though a single column rises, for example one that the files were sorted by. */
  private def rises: String = {
    val more = columns.filter(_.files.rises)
    if (more.isEmpty) ""
    else s" READS RISE: look-ups by ${more.map(c => s"${c.name} (files ${c.files.text})").mkString(", ")}."
  }

  private def change(level: ReadShares => Double): String =
    s"${HumanReadable.share(mean(now, level))} -> ${HumanReadable.share(mean(expected, level))}"
}

private[run] object Forecast {
  def read(gauge: ReadEstimator, levels: Levels): Readings =
    Readings(gauge.columns(levels), gauge.queries(levels))
}

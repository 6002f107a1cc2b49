package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.fit.{
  Fit,
  LayoutForecast,
  LeastReads,
  Levels,
  ReadEstimator,
  ReadShares,
  Sample
}
import org.apache.spark.sql.zorder.run.inspect.{Inspection, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.FilePlan
import org.apache.spark.sql.zorder.run.report.{OtherReport, Shares}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, PageIndex}
import org.apache.spark.sql.zorder.workload.draw.{LogBoxes, QueryGroup}
import sparkzorder.curve.build.{Candidate, Curves}
import sparkzorder.curve.cost.ShareRead
import sparkzorder.curve.page.PageCut

/**
 * Forecasts a rewrite from footers and from the sampled rows that its layouts were not fitted on.
 *
 * @param planned
 *   the pages of the files to write
 */
final private[run] class RewriteForecaster(
    input: Inspection,
    plan: FilePlan,
    tracked: TrackedColumns,
    fitted: FittedLayouts,
    planned: PageCut) {
  private val clustering = tracked.clustering.indices
  private val sample = Sample.concat(fitted.heldOut)
  private val values = sample.columns.map(_.sorted)

  def forecast(session: ClassicSession, log: Option[Sample => LogBoxes]): Forecast = {
    val pages = PageIndex.ofSome(session, plan.files, tracked.statColumns)
    val groups = log.fold(IndexedSeq.empty[QueryGroup])(_(sample).shapes)
    val gauge = new ReadEstimator(values, groups.map(_.queries))
    val now = Forecast.read(gauge, levels(input.footersOf(plan), pages))
    val parts = ahead
    val whole = parts.reduce(_ ++ _)
    // shows where the values of a clustering expression will be, though no query can use it
    val placed =
      whole.masked(tracked.stored.indices.map(c => tracked.stored(c).isEmpty || tracked.bounded(c)))
    val expected = Readings(gauge.columns(placed), gauge.queries(whole.masked(tracked.bounded)))
    val worse = tracked.watchedPlaces.filter(c =>
      OtherReport("", Shares(Some(now.columns(c).files), Some(expected.columns(c).files)), None).getsWorse)
    Forecast(
      tracked,
      gauge,
      groups,
      now,
      expected,
      bound(parts, groups, expected),
      worse.map(c => c -> asOneMore(c)).toMap,
      alternatives(pages, parts.head))
  }

  private def levels(footers: Seq[FileFooter], pages: Seq[FilePages]): Levels =
    tracked.levels(footers, input.statistics.columns, pages)

  /** The blocks of each partition after the run. */
  private def ahead: IndexedSeq[Levels] =
    fitted.heldOut.zip(fitted.layouts).zip(plan.partitions).map { case ((held, ref), sized) =>
      LayoutForecast.blocks(
        held,
        ref.layout,
        input.rows(sized.partition),
        planned,
        byPages = input.ordersPages)
    }

  private def bound(ahead: IndexedSeq[Levels], groups: Seq[QueryGroup], expected: Readings): Readings = {
    val least = new LeastReads(ahead.indices.map { p =>
      val blocks = ReadShares(
        ahead(p).files.length.toDouble,
        ahead(p).rowGroups.length.toDouble,
        ahead(p).pages.length.toDouble)
      LeastReads.Part(fitted.heldOut(p), input.rows(plan.partitions(p).partition).toDouble, blocks)
    })
    Readings(
      least.columns(clustering, Some(clustering.map(expected.columns(_)))) ++
        tracked.watchedPlaces.map(c => least.columns(clustering :+ c, None).last),
      groups.zip(expected.queries).map { case (g, read) =>
        least.queries(g.queries, Some(read))
      }.toIndexedSeq)
  }

  /** The share of files that look-ups in a watched column read of a Z-order by it and the clustering columns. */
  private def asOneMore(place: Int): Double = {
    val places = clustering :+ place
    val rows =
      math.max(RewriteForecaster.LeastRows, RewriteForecaster.RowsForOneMore / plan.partitions.length)
    val files = plan.partitions.indices.flatMap { p =>
      val sized = plan.partitions(p)
      val columns = places.map(tracked.all(_).fit)
      val learnt = fitted.fitting(p).select(places).thinned(rows)
      val layout = Fit.choose(learnt, columns, sized.files, Curves.ZOrder.name, Nil, 1.0).layout
      val held = fitted.heldOut(p).select(places).thinned(rows)
      val share = input.rows(sized.partition).toDouble / math.max(1, held.rows)
      LayoutForecast.blocks(held, layout, held.rows.toLong, PageCut.Whole).files
        .map(b => (math.round(b.rows * share), b.zones.last))
    }
    ShareRead.of(files, values(place))
  }

  /** Compared in the first partition, whose queries they were compared by. */
  private def alternatives(pages: Seq[FilePages], ahead: Levels): Seq[Candidate] = {
    val files = plan.partitions.head.partition.files.map(_.path).toSet
    val footers = input.footersOf(plan).filter(f => files(f.file.path))
    val present = levels(footers, pages.filter(p => files(p.file.path)))
    val scorer = fitted.first.scorer
    val tried =
      if (fitted.first.candidates.nonEmpty) fitted.first.candidates
      else Seq(scorer.of(fitted.first.layout.curve, ahead))
    val least = scorer.bound
    val stands = LeastReads.unlessBeaten(least.files, tried.map(_.files)).isDefined
    (scorer.of("now", present) +: tried) ++ (if (stands) Seq(least) else Nil)
  }
}

private[run] object RewriteForecaster {
  private val RowsForOneMore = 40000
  private val LeastRows = 2000
}

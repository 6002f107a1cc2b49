package org.apache.spark.sql.zorder.clustering.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.clustering.fit.{Fit, LayoutForecast, Sample}
import org.apache.spark.sql.zorder.clustering.inspect.TrackedColumns
import org.apache.spark.sql.zorder.clustering.plan.{GrowingPartition, GrowthPlan}
import sparkzorder.curve.Zone
import sparkzorder.curve.layout.Layout
import sparkzorder.curve.page.PageCut

/**
 * Layouts for the rows of sorted runs alone (ADR 74). Rows that came later than the stored layout lie beyond
 * its last values, and all look alike to it: without a layout of their own they would be a few files, however
 * many rows they are.
 */
final private[clustering] class OwnLayouts(tracked: TrackedColumns, curve: String, options: RunOptions) {
  private val clustering = tracked.clustering.indices

  /**
   * Gives those partitions a layout of their own whose look-ups by one column then read notably less of the
   * new rows, or whose files would be too large.
   */
  def of(growing: Seq[GrowingPartition]): Seq[GrowingPartition] = {
    val cut = growing.map(g => g.copy(own = layout(g)))
    // one switch for all partitions says whether heavy values are spread over files
    if (cut.forall(_.spreadsHeavy)) cut else cut.map(g => g.copy(own = g.own.filterNot(_.spreadsHeavy)))
  }

  private def layout(g: GrowingPartition): Option[LayoutRef] = g.plan match {
    case append: GrowthPlan.Append if append.merged == 0 && append.filesOfOwn > 1 =>
      Some(g.counted.sample.select(clustering))
        .filter(_.rows >= OwnLayouts.RowsToJudge * append.filesOfOwn)
        .filter(append.tooLarge || looksAlike(_, g.ref.layout))
        .flatMap(better(g, append, _))
    case _ => None
  }

  /** Whether most rows have the same rank of a column, and yet not the same value. */
  private def looksAlike(sample: Sample, layout: Layout): Boolean = tracked.boundedClustering.exists { c =>
    val column = sample.columns(c)
    val ranks = column.ranks(layout.columns(c).scale)
    val byRank = ranks.indices.filterNot(column.isNull(_)).toArray.groupBy(ranks(_)).values
    byRank.find(_.length > sample.rows / 2).exists(most =>
      column.zone(most, 0, most.length) match {
        case Zone.Between(min, max) => min < max
        case _ => false
      })
  }

  private def better(g: GrowingPartition, append: GrowthPlan.Append, sample: Sample): Option[LayoutRef] = {
    val (rows, values) = (g.counted.rows.sum, sample.columns.map(_.sorted))
    def read(layout: Layout, fileOf: Int => Int): Double =
      tracked.meanShareRead(
        LayoutForecast.blocks(sample, layout, rows, PageCut.Whole, fileOf).files,
        values)
    val files = append.filesOfOwn
    val stored = read(g.ref.layout, append.fileOf(_))
    val most = if (append.tooLarge) stored else OwnLayouts.Notably * stored
    // the bound is cheap and a fit is not
    def bound: Double = {
      val least = LayoutForecast.bound(sample)(files.toDouble)
      tracked.meanShare(least(_))
    }
    if (!append.tooLarge && bound > most) None
    else {
      val few = sample.thinned(OwnLayouts.RowsToFit * files)
      val pagesPerFile = rows.toDouble / files / options.pageRowLimit
      val columns = tracked.clustering.map(_.fit)
      val own = Fit.choose(few, columns, files, curve, Nil, pagesPerFile).layout
      if (own.files <= files && read(own, identity) <= most) Some(Fit.ref(own)) else None
    }
  }
}

private object OwnLayouts {

  /** A layout of the new rows' own reads at most this part of what the stored one reads of them. */
  private val Notably = 0.8

  /** Sampled rows a file that it takes to say so. */
  private val RowsToJudge = 400

  /** Sampled rows a file that a layout is fitted on. */
  private val RowsToFit = 2000
}

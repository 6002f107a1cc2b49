package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.fit.{ReadEstimator, LayoutForecast, Levels, ReadShares, Sample}
import org.apache.spark.sql.zorder.run.inspect.{Inspection, PresentLevels, Probes, TrackedColumns}
import org.apache.spark.sql.zorder.run.plan.{FilePlan, GrowthPlan, GrowingPartition, Growth, PlacedPartition}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.Block
import sparkzorder.curve.cost.{ShareRead, SortedWords}
import sparkzorder.curve.page.PageCut

/** Forecasts what look-ups read of partitions that grow, from footers and from a sample of the new rows. */
final private[run] class IncrementForecaster(
    session: ClassicSession,
    input: Inspection,
    tracked: TrackedColumns,
    options: RunOptions) {
  private val present = new PresentLevels(session, input, tracked)
  private val pages = PageCut(options.pageRowLimit.toDouble, Double.MaxValue)

  /** Values inside the ranges of the files: as many of each file, since files have about the same rows. */
  private def values(files: Seq[DataFile]): IndexedSeq[SortedWords] = {
    val blocks = present.files(files)
    tracked.all.indices.map(c => SortedWords.of(blocks.map(_.zones(c)).flatMap(Probes.of)))
  }

  def growth(placed: PlacedPartition, rows: Array[Long]): Growth = Growth(
    rows.indices.map(n => placed.settled.getOrElse(n, Nil).map(_.length).sum).toArray,
    rows,
    placed.freshBytes,
    placed.appended,
    hurts(placed))

  /** Whether look-ups read noticeably more because of the files across cells. */
  private def hurts(placed: PlacedPartition): Boolean = {
    val settled = placed.settled.values.flatten.toSeq
    val spanning = placed.spanning ++ placed.later.getOrElse(placed.fresh)
    val probes = values(settled)
    def mean(files: Seq[DataFile]): Double = {
      val blocks = present.files(files)
      val shares = tracked.clustering.indices.map(c =>
        blocks.map(b => (b.rows, b.zones(c)))).zip(probes).map { case (b, v) => ShareRead.of(b, v) }
      shares.sum / math.max(1, shares.length)
    }
    settled.nonEmpty && mean(settled ++ spanning) > mean(settled) * (1.0 + options.minGain)
  }

  /** The blocks of the partitions without these files. */
  def levelsWithout(growing: Seq[GrowingPartition], gone: Seq[DataFile]): Levels = {
    val paths = gone.map(_.path).toSet
    present.of(growing.flatMap(_.placed.all).filterNot(f => paths(f.path)))
  }

  /** For a partition that is put into its stored layout, from a sample of all its rows. */
  def ofStoredLayout(placed: PlacedPartition, ref: LayoutRef, sample: Sample): Forecast = {
    val gauge = new ReadEstimator(sample.columns.map(_.sorted), IndexedSeq.empty)
    val rows = present.rows(placed.all)
    val ahead =
      LayoutForecast.blocks(
        sample,
        ref.layout,
        rows,
        pages,
        byPages = input.ordersPages)
    forecast(gauge, present.of(placed.all), ahead, sample, 1)
  }

  def forecast(growing: Seq[GrowingPartition], changed: FilePlan, sample: Sample): Forecast = {
    val all = growing.flatMap(_.placed.all)
    val gauge = new ReadEstimator(values(all), IndexedSeq.empty)
    val again = growing.filter(_.plan.isInstanceOf[GrowthPlan.Append]).flatMap(_.rewritten).map(_.path).toSet
    val settled = growing.flatMap(g => g.placed.settled.values.flatten ++ g.placed.spanning)
      .filterNot(f => again(f.path))
    val appended = growing.filter(_.plan.isInstanceOf[GrowthPlan.Append])
    // merged rows lie in the boxes that are there; appended ones are blocks of their own
    val ahead = appended.foldLeft(present.of(settled))((so, g) => so ++ blocks(g, sample))
    forecast(gauge, present.of(all), ahead, sample, growing.length)
  }

  private def forecast(
      gauge: ReadEstimator,
      now: Levels,
      ahead: Levels,
      sample: Sample,
      partitions: Int): Forecast = {
    def each(blocks: Seq[Block]): Double = blocks.length.toDouble / partitions
    val reading = ReadShares(each(ahead.files), each(ahead.rowGroups), each(ahead.pages))
    Forecast(
      tracked,
      gauge,
      IndexedSeq.empty,
      Forecast.read(gauge, now),
      Forecast.read(gauge, ahead),
      Readings(bound(sample, reading), IndexedSeq.empty),
      Map.empty,
      Nil)
  }

  /** Every partition uses the sample of all partitions, which does not keep the partition of a row. */
  private def blocks(g: GrowingPartition, sample: Sample): Levels = {
    val fileOf = g.plan.asInstanceOf[GrowthPlan.Append].fileOf
    // rows that earlier runs appended are taken to lie as the new ones do
    val rows = g.growth.rows.sum + present.rows(g.rewritten)
    if (sample.rows == 0) Levels(Nil, Nil, Nil)
    else {
      val cut =
        LayoutForecast.blocks(sample, g.ref.layout, rows, pages, fileOf(_), byPages = input.ordersPages)
      val scale = rows.toDouble / sample.rows
      def scaled(blocks: Seq[Block]) = blocks.map(b => b.copy(rows = math.round(b.rows * scale)))
      Levels(scaled(cut.files), scaled(cut.rowGroups), scaled(cut.pages))
    }
  }

  private def bound(sample: Sample, blocks: ReadShares): IndexedSeq[ReadShares] =
    if (sample.rows == 0) tracked.all.indices.map(_ => ReadShares(0, 0, 0))
    else {
      val levels = Seq(blocks.files, blocks.rowGroups, blocks.pages).map(math.max(1.0, _))
      val each = LayoutForecast.bound(sample.select(tracked.clustering.indices), levels)
      tracked.all.indices.map(c =>
        if (c < tracked.clustering.length) ReadShares(each(0)(c), each(1)(c), each(2)(c))
        else ReadShares(1, 1, 1))
    }
}

package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.fit.{Forecast, Sample}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, PageIndex}
import org.apache.spark.sql.zorder.table.DataFile
import sparkzorder.curve.Zone
import sparkzorder.curve.cost.{ShareRead, SortedWords}

/**
 * What look-ups read now, what they would read after the run, and the least that they could.
 *
 * @param columns
 *   one report per clustering column, `measured` still open
 */
final case class Outlook(columns: Seq[ColumnReport], values: IndexedSeq[SortedWords]) {

  /** Fall of the mean share read, over columns, files and pages alike; 0.5 = half as much is read. */
  val gain: Double = {
    val both = columns.flatMap(c => Seq(c.files, c.pages))
    val now = both.flatMap(_.now).sum
    if (now == 0) 0.0 else 1.0 - both.flatMap(_.forecast).sum / now
  }

  def said: String = columns.map { c =>
    def pair(s: Shares) =
      s"${s.now.map(Said.share).getOrElse("?")} -> ${s.forecast.map(Said.share).getOrElse("?")}"
    s"${c.name}: files ${pair(c.files)}, pages ${pair(c.pages)}"
  }.mkString("a look-up reads, by ", "; by ", "")

  def noGain(least: Double): String =
    f"The mean share read would fall by ${gain * 100}%.1f %% only, less than minGain = ${least * 100}%.1f %%: " +
      s"$said. WITH (force = true) does it all the same."
}

object Outlook {

  /** Page indexes of so many files tell the pages of the table. */
  private val PageIndexFiles = 1000

  def apply(
      session: ClassicSession,
      input: Inspection,
      plan: FilePlan,
      fitted: Fitted,
      options: RunOptions): Outlook = {
    val footers = input.footersOf(plan)
    val pagesNow = PageIndex.read(session, Blocks.some(plan.files, PageIndexFiles), input.statColumns)
    val rows = footers.map(_.rows).sum
    val rowGroupRows = rowsPerRowGroup(input, options, footers, rows)
    val ahead = fitted.heldOut.zip(fitted.layouts).zip(plan.partitions).map { case ((sample, ref), sized) =>
      Forecast.blocks(
        sample,
        ref.layout,
        input.rows(sized.partition),
        rowGroupRows,
        options.pageRowLimit.toDouble)
    }.reduce(_ ++ _)
    val all = whole(fitted.heldOut)
    val values = all.columns.map(_.sorted)
    def bounds(blocks: Int) = Forecast.bound(all, blocks.toDouble)
    val fileBound = bounds(ahead.files.length)
    val groupBound = bounds(ahead.rowGroups.length)
    val pageBound = bounds(ahead.pages.length)
    val ahead3 = Seq(ahead.files, ahead.rowGroups, ahead.pages).map(Forecast.shares(_, values))
    val names = fitted.layouts.head.layout.columns.map(_.sql)
    val columns = names.indices.map { c =>
      val stat = input.statColumnOf(c)
      def now(blocks: Int => Seq[(Long, Zone)]) = stat.map(s => ShareRead.of(blocks(s), values(c)))
      ColumnReport(
        names(c),
        Shares(now(s => Blocks.files(footers, s)), Some(ahead3(0)(c)), None, Some(fileBound(c))),
        Shares(now(s => Blocks.rowGroups(footers, s)), Some(ahead3(1)(c)), None, Some(groupBound(c))),
        Shares(now(s => Blocks.pages(pagesNow, s)), Some(ahead3(2)(c)), None, Some(pageBound(c))))
    }
    Outlook(columns, values)
  }

  private def whole(parts: IndexedSeq[Sample]): Sample = Sample.concat(parts)

  /** Rows that fit into a row group, by the bytes that the input's row groups have per row. */
  private def rowsPerRowGroup(
      input: Inspection,
      options: RunOptions,
      footers: Seq[FileFooter],
      rows: Long): Double = {
    val bytes = footers.flatMap(_.rowGroups).map(_.compressedBytes).sum
    val size = options.rowGroupSize.getOrElse(input.rowGroupBytes)
    if (bytes == 0) Double.MaxValue else math.max(1.0, size.toDouble * rows / bytes)
  }
}

/** Blocks with the zones of one statistics column. */
private[run] object Blocks {

  /** At most `n` of the files, evenly spaced. */
  def some(files: Seq[DataFile], n: Int): Seq[DataFile] =
    if (files.length <= n) files
    else {
      val indexed = files.toIndexedSeq
      (0 until n).map(i => indexed((i.toLong * files.length / n).toInt))
    }

  def files(footers: Seq[FileFooter], column: Int): Seq[(Long, Zone)] =
    footers.map(f => (f.rows, f.zone(column)))

  def rowGroups(footers: Seq[FileFooter], column: Int): Seq[(Long, Zone)] =
    footers.flatMap(_.rowGroups.map(g => (g.rows, g.zones(column))))

  def pages(files: Seq[FilePages], column: Int): Seq[(Long, Zone)] =
    files.flatMap(_.pages(column))
}

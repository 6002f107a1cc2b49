package org.apache.spark.sql.zorder.run.plan

import sparkzorder.curve.layout.{CutTree, Layout}

/**
 * The file numbers of a layout, cut into runs: a partition that is too large for one batch is brought
 * together by region first.
 *
 * @param starts
 *   the first file number of each region, rising from 0
 * @param files
 *   of the layout
 */
final private[run] case class Regions(starts: IndexedSeq[Int], files: Int) {
  def spans: IndexedSeq[(Int, Int)] = starts.zip(starts.tail :+ files)

  /** One file for each region, its rows in layout order. */
  def gather(directory: String): OutputFiles = OutputFiles.some(
    spans.map { case (from, until) => OutputFile(directory, OutputFiles.Gathered, from, until) },
    (0 until files).map(f => starts.lastIndexWhere(_ <= f)),
    spread = true)
}

private[run] object Regions {

  /** About `wanted` regions of as many files. A cell that fills several files is never cut. */
  def of(layout: Layout, wanted: Int): Regions = {
    val cells = CutTree.cells(layout.tree, layout.columns.length).map(_.firstFile)
    val even = (0 until wanted).map(r => (r.toLong * layout.files / wanted).toInt)
    Regions(even.map(e => cells.filter(_ <= e).max).distinct, layout.files)
  }

  /** The regions that files were gathered by: what lies between them had no rows so far. */
  def between(spans: Iterable[(Int, Int)], files: Int): Regions = {
    val cuts = spans.flatMap { case (from, until) => Seq(from, until) }.toSeq :+ 0
    Regions(cuts.distinct.sorted.filter(_ < files).toIndexedSeq, files)
  }

  /** The files of one region, or of several that follow each other. */
  def settle(directory: String, from: Int, until: Int, files: Int, spread: Boolean): OutputFiles =
    OutputFiles.some(
      (from until until).map(f => OutputFile(directory, OutputFiles.InPlace, f, f + 1)),
      (0 until files).map(f => if (f >= from && f < until) f - from else 0),
      spread)
}

package org.apache.spark.sql.zorder.fit

import scala.collection.mutable.ArrayBuffer

import sparkzorder.curve.Block
import sparkzorder.curve.cost.Bound
import sparkzorder.curve.layout.{CompiledLayout, KeyOrder, Layout, PageSides}
import sparkzorder.curve.page.{PageCut, PageTree}

/** The blocks that a layout would make, forecast from sampled rows that it was not fitted on. */
object LayoutForecast {

  /**
   * Blocks of the rewritten table, in sampled rows.
   *
   * @param sample
   *   the columns of the layout, and after them any others whose bounds are wanted
   * @param tableRows
   *   rows that the sample stands for
   * @param cut
   *   where the writer ends pages and row groups
   * @param fileOf
   *   the file of each file number, in the same order
   * @param byPages
   *   whether files whose pages are known beforehand are cut at their borders; else along the curve
   */
  def blocks(
      sample: Sample,
      layout: Layout,
      tableRows: Long,
      cut: PageCut,
      fileOf: Int => Int = n => n,
      byPages: Boolean = true): Levels = {
    val placed = place(sample, layout, fileOf)
    val perSampled = tableRows.toDouble / math.max(1, sample.rows)
    val inSample = cut.sampled(perSampled)
    val inPages = if (byPages) placed.byPages(inSample) else placed
    val unsampled = new ZoneExtrapolation(sample.columns.map(_.sorted), 1.0 - 1.0 / perSampled)
    levels(sample, inPages, inSample, unsampled)
  }

  /**
   * The bound per column, for each of these numbers of blocks; rows beyond `BoundRows` would not change its
   * third digit.
   */
  def bound(sample: Sample, blocks: Seq[Double]): Seq[Array[Double]] = {
    val rows = Array.range(0, sample.rows, math.max(1, sample.rows / BoundRows))
    val mass = sample.columns.map(_.mass(rows)).toArray
    val isNull = sample.columns.map(c => rows.map(c.isNull(_))).toArray
    blocks.map(Bound.perColumn(mass, isNull, _))
  }

  private val BoundRows = 10000

  /** Rows in layout order, and the file of each row. */
  private final class Placed(
      val order: Array[Int],
      val file: Array[Int],
      ranks: Array[Array[Int]],
      sides: Option[PageSides]) {

    /** Where the file of the row at a place ends. */
    def end(from: Int): Int = {
      var end = from
      while (end < order.length && file(order(end)) == file(order(from))) end += 1
      end
    }

    /** The same files, each in the order of its pages where these are known beforehand. */
    def byPages(cut: PageCut): Placed = {
      val arranged = order.clone()
      var from = 0
      while (from < order.length) {
        val until = end(from)
        if (cut.foresees((until - from).toDouble))
          sides.foreach(PageTree.arrange(arranged, from, until, ranks, _, cut.pageRows, cut.groupPages))
        from = until
      }
      new Placed(arranged, file, ranks, sides)
    }
  }

  private def place(sample: Sample, layout: Layout, fileOf: Int => Int): Placed = {
    val compiled = layout.compiled
    // columns beyond those of the layout do not count here
    val ranks = sample.columns.zip(layout.columns).map { case (c, l) => c.ranks(l.scale) }
    val row = new Array[Int](ranks.length)
    val scratch = new Array[Int](ranks.length)
    val keys = Array.tabulate(sample.rows)(i => keyOf(compiled, ranks, i, row, scratch))
    new Placed(
      KeyOrder.of(keys),
      keys.map(k => fileOf(compiled.fileOfKey(k))),
      ranks.toArray,
      compiled.pageSides)
  }

  private def keyOf(
      layout: CompiledLayout,
      ranks: IndexedSeq[Array[Int]],
      i: Int,
      row: Array[Int],
      scratch: Array[Int]): Long = {
    var c = 0
    while (c < row.length) {
      row(c) = ranks(c)(i)
      c += 1
    }
    val cell = layout.cell(row)
    // the row's number stands for the hash that spreads cells of equal keys
    layout.key(cell, layout.file(cell, i), row, scratch)
  }

  /** Files, their row groups, and the pages of these: the writer counts rows anew in every row group. */
  private def levels(
      sample: Sample,
      placed: Placed,
      cut: PageCut,
      unsampled: ZoneExtrapolation): Levels = {
    val (files, rowGroups, pages) =
      (ArrayBuffer.empty[Block], ArrayBuffer.empty[Block], ArrayBuffer.empty[Block])
    var from = 0
    while (from < placed.order.length) {
      val end = placed.end(from)
      val file = block(sample, placed.order, from, end)
      def sampled(from: Int, until: Int) =
        unsampled.widened(block(sample, placed.order, from, until), file.zones)
      files += TruncatedBounds.ofChunk(unsampled.widened(file, file.zones))
      for ((groupFrom, groupEnd) <- pieces(from, end, cut.rowGroupRows)) {
        val rowGroup = sampled(groupFrom, groupEnd)
        rowGroups += TruncatedBounds.ofChunk(rowGroup)
        for ((pageFrom, pageEnd) <- pieces(groupFrom, groupEnd, cut.pageRows))
          pages += TruncatedBounds.ofPage(sampled(pageFrom, pageEnd), rowGroup)
      }
      from = end
    }
    Levels(files.toSeq, rowGroups.toSeq, pages.toSeq)
  }

  /** Places `[from, end)` in pieces of `size` rows, a fraction where rows are sampled; the last has what is left. */
  private def pieces(from: Int, end: Int, size: Double): Iterator[(Int, Int)] = {
    def ends(piece: Int): Int = math.round(math.min(from + (piece + 1) * size, end.toDouble)).toInt
    Iterator.iterate((from, 0)) { case (begun, piece) => (math.max(begun + 1, ends(piece)), piece + 1) }
      .takeWhile(_._1 < end)
      .map { case (begun, piece) => (begun, math.min(end, math.max(begun + 1, ends(piece)))) }
  }

  private def block(sample: Sample, order: Array[Int], from: Int, until: Int): Block = Block(
    until - from,
    sample.columns.map(_.zone(order, from, until)),
    sample.columns.indices.filterNot(sample.columns(_).holdsNull(order, from, until)).toSet)
}

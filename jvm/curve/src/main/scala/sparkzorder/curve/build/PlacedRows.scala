package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankBlocks
import sparkzorder.curve.layout.{CompiledLayout, CutTree, InFileOrder, PageSides}
import sparkzorder.curve.page.PageTree

/**
 * Sampled rows in the order that a layout gives them.
 *
 * @param sample
 *   the columns that are looked at
 * @param placed
 *   the columns that the layout has placed the rows by
 * @param order
 *   row numbers
 * @param fileStarts
 *   where each file that has rows begins in `order`, and one more entry for the end
 * @param sides
 *   what the rows of a file are parted by; None if they stay as they are
 */
final private[build] class PlacedRows(
    sample: RankedSample,
    placed: RankedSample,
    order: Array[Int],
    fileStarts: Array[Int],
    sides: Option[PageSides]) {

  /** Replaces the columns by those of another sample of the same rows. The places stay. */
  def withColumnsOf(all: RankedSample): PlacedRows = new PlacedRows(all, placed, order, fileStarts, sides)

  def files: RankBlocks = RankBlocks.of(sample.ranks, order, fileStarts)

  /** The files cut into pages of `rows` rows; the last page of a file may have fewer. */
  def pages(rows: Int): RankBlocks = {
    val arranged = order.clone()
    val starts = Array.newBuilder[Int]
    var f = 0
    while (f < fileStarts.length - 1) {
      sides.foreach(
        PageTree.arrange(arranged, fileStarts(f), fileStarts(f + 1), placed.ranks, _, rows.toDouble))
      var at = fileStarts(f)
      while (at < fileStarts(f + 1)) {
        starts += at
        at += rows
      }
      f += 1
    }
    starts += order.length
    RankBlocks.of(sample.ranks, arranged, starts.result())
  }
}

private[build] object PlacedRows {

  /** Pages of fewer sampled rows would all look smaller than they are. */
  private val LeastPageRows = 4

  /** Sampled rows of a page. */
  def pageRows(sampled: Int, files: Int, pagesPerFile: Double): Int =
    math.max(LeastPageRows, math.round(sampled / (files * pagesPerFile)).toInt)

  def of(sample: RankedSample, tree: CutTree, inFile: InFileOrder): PlacedRows = {
    val layout = new CompiledLayout(sample.scales.toArray, tree, inFile)
    val keys = sortable(sample, layout)
    java.util.Arrays.sort(keys)
    val mask = (1 << rowBits(sample)) - 1
    val starts = Array.newBuilder[Int]
    var i = 0
    while (i < keys.length) {
      if (i == 0 || layout.fileOfKey(keys(i)) != layout.fileOfKey(keys(i - 1))) starts += i
      i += 1
    }
    starts += keys.length
    new PlacedRows(sample, sample, keys.map(k => k.toInt & mask), starts.result(), layout.pageSides)
  }

  /** The key of each row with the number of the row in its last bits, which tell no two pages apart. */
  private def sortable(sample: RankedSample, layout: CompiledLayout): Array[Long] = {
    val keys = new Array[Long](sample.rows)
    val row = new Array[Int](sample.columns)
    val scratch = new Array[Int](sample.columns)
    val bits = rowBits(sample)
    var i = 0
    while (i < keys.length) {
      var c = 0
      while (c < row.length) {
        row(c) = sample.ranks(c)(i)
        c += 1
      }
      val cell = layout.cell(row)
      // the row's number stands for the hash that spreads cells of equal keys
      keys(i) = (layout.key(cell, layout.file(cell, i), row, scratch) >>> bits) << bits | i
      i += 1
    }
    keys
  }

  private def rowBits(sample: RankedSample): Int = 32 - Integer.numberOfLeadingZeros(sample.rows)
}

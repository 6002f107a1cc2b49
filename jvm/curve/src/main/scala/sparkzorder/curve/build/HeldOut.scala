package sparkzorder.curve.build

import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{RankBlocks, RankQueries, ReadCost}
import sparkzorder.curve.layout.{CompiledLayout, CutTree, InFileOrder, PageSides}
import sparkzorder.curve.page.PageTree

/**
 * Rows and queries that no layout is fitted on, to estimate what queries would read. The rows have more columns
 * than a layout clusters by: what goes along with a clustered column gains too, and is counted.
 *
 * @param files
 *   number of files of the layouts
 * @param pagesPerFile
 *   mean number of pages in a file
 * @param missing
 *   share of the table's rows that are not among these, whose values widen files and pages; 0.0 where layouts are only
 *   compared with each other
 */
final class HeldOut(
    rows: RankedSample,
    queries: RankQueries,
    files: Int,
    pagesPerFile: Double,
    missing: Double = 0.0) {
  import HeldOut._

  private[this] val pageRows = PlacedRows.pageRows(rows.rows, files, pagesPerFile)

  /**
   * @param columns
   *   numbers of the columns that the tree cuts, in its order
   */
  def read(columns: IndexedSeq[Int], tree: CutTree, inFile: InFileOrder): QueryShares = {
    val placed = PlacedRows.of(rows.only(columns), tree, inFile).withColumnsOf(rows)
    new QueryShares(
      placed.files.widened(FileDistances * missing).shares(queries),
      placed.pages(pageRows).widened(PageDistances * missing).shares(queries),
      queries)
  }

  /** The shares read of blocks that exist already. */
  def read(files: RankBlocks, pages: RankBlocks): QueryShares =
    new QueryShares(files.shares(queries), pages.shares(queries), queries)

  /** Per column of the tree, how often its values are halved on the way to a file: the mean over the files' rows. */
  def bits(columns: IndexedSeq[Int], tree: CutTree, inFile: InFileOrder): IndexedSeq[Double] = {
    val chosen = rows.only(columns)
    val blocks = PlacedRows.of(chosen, tree, inFile).files
    columns.indices.map { c =>
      val each = (0 until blocks.size).map { b =>
        val share = chosen.shareOfValues(c, blocks.extent(c, b))
        blocks.rows(b) * (if (share <= 0.0) 0.0 else -math.log(share) / math.log(2))
      }
      each.sum / math.max(1, rows.rows)
    }
  }
}

private object HeldOut {

  /** A bound falls short by more than so many mean distances in 2 % of the files; each is a small part of a file. */
  private val FileDistances = 4.0

  /** Fewer, since few rows are sampled of a page: more would make pages of a sorted column wider than they are. */
  private val PageDistances = 2.0
}

/**
 * Share of the rows that each of some queries reads, 0 .. 1.
 *
 * @param files
 *   by query, at the level of files
 * @param pages
 *   by query, at the level of pages
 */
final class QueryShares(files: Array[Double], pages: Array[Double], queries: RankQueries) {

  /** Mean over the queries by their weights. */
  def cost: Double = ReadCost.of(meanOf(files, _ => true), meanOf(pages, _ => true))

  /** Mean share of the files. */
  def ofFiles: Double = meanOf(files, _ => true)

  /** Mean share of the pages. */
  def ofPages: Double = meanOf(pages, _ => true)

  /** Mean share of the files over the queries that ask nothing of this column; 0.0 if all do. */
  def ofFilesWithout(column: Int): Double = meanOf(files, !queries.asks(_, column))

  private def meanOf(each: Array[Double], counts: Int => Boolean): Double = {
    val chosen = each.indices.filter(counts)
    val weight = chosen.map(queries.weights(_)).sum
    if (weight <= 0.0) 0.0 else chosen.map(q => each(q) * queries.weights(q)).sum / weight
  }
}

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

/** What look-ups of single values read, one column at a time. */
private[build] object LookUps {

  /**
   * By column, the mean share of the rows that look-ups of its sampled values read: exact for the sample,
   * where a draw of queries would leave something to chance. 0.0 for a column of NULLs.
   */
  def shares(sample: RankedSample, blocks: RankBlocks): IndexedSeq[Double] =
    (0 until sample.columns).map { c =>
      val each = (0 until blocks.size).map(b =>
        blocks.rows(b) * sample.shareOfValues(c, blocks.extent(c, b)))
      each.sum / math.max(1, sample.rows)
    }
}

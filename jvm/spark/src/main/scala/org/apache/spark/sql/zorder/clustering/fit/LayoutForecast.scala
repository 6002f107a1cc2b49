package org.apache.spark.sql.zorder.clustering.fit

import scala.collection.mutable.ArrayBuffer

import sparkzorder.curve.{Block, NormalizedBytes, NormalizedValue, Zone}
import sparkzorder.curve.cost.{Bound, SortedValues}
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

  /** The file of each row. */
  def files(sample: Sample, layout: Layout): Array[Int] = place(sample, layout, identity).file

  /**
   * The bound per column, for any number of blocks; rows beyond `BoundRows` would not change its third digit.
   */
  def bound(sample: Sample): Double => Array[Double] = {
    val rows = Array.range(0, sample.rows, math.max(1, sample.rows / BoundRows))
    val mass = sample.columns.map(_.mass(rows)).toArray
    val isNull = sample.columns.map(c => rows.map(c.isNull(_))).toArray
    Bound.perColumn(mass, isNull, _)
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

    /** These files, each in the order of its pages where the pages are known beforehand. */
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
    val file = keys.map(k => fileOf(compiled.fileOfKey(k)))
    val order =
      if (layout.sortsByValues) byValues(sample.columns.take(ranks.length), file) else KeyOrder.of(keys)
    new Placed(order, file, ranks.toArray, compiled.pageSides)
  }

  /** File after file, the rows of each sorted by the columns. */
  private def byValues(columns: IndexedSeq[SampleColumn], file: Array[Int]): Array[Int] =
    Array.range(0, file.length).sorted(new Ordering[Int] {
      override def compare(a: Int, b: Int): Int = {
        var sign = Integer.compare(file(a), file(b))
        var c = 0
        while (sign == 0 && c < columns.length) {
          sign = columns(c).compare(a, b)
          c += 1
        }
        sign
      }
    })

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
      val whole = unsampled.widened(file, file.zones)
      files += TruncatedBounds.ofChunk(only(whole, kept(sample, whole)))
      for ((groupFrom, groupEnd) <- pieces(from, end, cut.rowGroupRows)) {
        val inGroup = sampled(groupFrom, groupEnd)
        val known = kept(sample, inGroup)
        val rowGroup = only(inGroup, known)
        rowGroups += TruncatedBounds.ofChunk(rowGroup)
        // a row group without bounds of a column has no column index of it
        for ((pageFrom, pageEnd) <- pieces(groupFrom, groupEnd, cut.pageRows))
          pages += TruncatedBounds.ofPage(only(sampled(pageFrom, pageEnd), known), rowGroup)
      }
      from = end
    }
    Levels(files.toSeq, rowGroups.toSeq, pages.toSeq)
  }

  /** Of which columns a file or a row group has bounds. */
  private def kept(sample: Sample, block: Block): IndexedSeq[Boolean] =
    sample.columns.zip(block.zones).map { case (column, zone) => column.keepsBounds(zone) }

  private def only(block: Block, known: IndexedSeq[Boolean]): Block =
    if (known.forall(k => k)) block
    else block.copy(zones = block.zones.zip(known).map { case (zone, k) => if (k) zone else Zone.Unknown })

  /** Places `[from, end)` in pieces of `size` rows, a fraction in a sample; the last piece has the rest. */
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

/**
 * Estimates the bounds of all rows of a block from its sampled rows. The sampled bounds fall short at each
 * end by the mean distance between two sampled values. Distances are counted in sampled values of the whole
 * table, so the distribution does not matter, and a block with one value keeps it.
 *
 * @param values
 *   per column
 * @param missing
 *   share of the rows that are not sampled
 */
final private[fit] class ZoneExtrapolation(values: IndexedSeq[SortedValues], missing: Double) {

  /** @param file the zones of the whole file, which limit those of its blocks */
  def widened(block: Block, file: IndexedSeq[Zone]): Block =
    if (missing <= 0.0 || block.rows < 2) block
    else block.copy(zones = block.zones.indices.map(c =>
      (block.zones(c), file(c)) match {
        case (Zone.Between(min, max), Zone.Between(least, most)) =>
          widened(values(c), min, max, block.rows) match {
            case (a, b) => Zone.Between(if (a < least) least else a, if (b > most) most else b)
          }
        case (zone, _) => zone
      }))

  private def widened(
      sorted: SortedValues,
      min: NormalizedValue,
      max: NormalizedValue,
      rows: Long): (NormalizedValue, NormalizedValue) = {
    val low = sorted.countBetween(sorted(0), min) - 1
    val high = sorted.size - sorted.countBetween(max, sorted(sorted.size - 1))
    val step = math.round((high - low) * missing / (rows - 1)).toInt
    if (step <= 0) (min, max)
    else (sorted(math.max(0, low - step)), sorted(math.min(sorted.size - 1, high + step)))
  }
}

/**
 * How Parquet truncates the bounds of strings and binary. Row-group statistics keep them whole, or not at all
 * where both together have 4,096 bytes or more (`ParquetMetadataConverter.MAX_STATS_SIZE`). A page index cuts
 * them at 64 bytes (`parquet.columnindex.truncate.length`), the lower one down and the upper one up. Values
 * of other types are shorter than either.
 */
object TruncatedBounds {

  /** If both bounds have at least this many bytes together, a footer leaves them out. */
  val ChunkBytes = 4096

  /** Bytes of a bound that a page index keeps. */
  val PageBytes = 64

  /** A file or a row group as its footer will describe it. */
  def ofChunk(block: Block): Block =
    kept(block)((min, max) => if (min.length + max.length < ChunkBytes) Some((min, max)) else None)

  /**
   * A page as the page index will describe it, within the bounds that the footer has for its row group: where
   * these leave out the row group, no reader comes to the page.
   */
  def ofPage(block: Block, rowGroup: Block): Block = {
    val page = kept(block)((min, max) => above(max).map((min.take(PageBytes), _)))
    page.copy(zones = page.zones.zip(ofChunk(rowGroup).zones).map { case (a, b) => Zone.within(a, b) })
  }

  private def kept(block: Block)(
      bounds: (Array[Byte], Array[Byte]) => Option[(Array[Byte], Array[Byte])]): Block =
    if (!block.zones.exists(isLong)) block
    else block.copy(zones = block.zones.map {
      case zone @ Zone.Between(NormalizedBytes(min), NormalizedBytes(max)) if isLong(zone) =>
        bounds(min, max).fold[Zone](Zone.Unknown) { case (a, b) =>
          Zone.Between(NormalizedBytes(a), NormalizedBytes(b))
        }
      case other => other
    })

  private def isLong(zone: Zone): Boolean = zone match {
    case Zone.Between(NormalizedBytes(min), NormalizedBytes(max)) =>
      math.max(min.length, max.length) > PageBytes
    case _ => false
  }

  /** The shortest string of at most `PageBytes` bytes above all that begin like this one. */
  private def above(max: Array[Byte]): Option[Array[Byte]] =
    if (max.length <= PageBytes) Some(max)
    else {
      val start = max.take(PageBytes).reverse.dropWhile(_ == -1).reverse
      if (start.isEmpty) Some(max) else Some(start.init :+ (start.last + 1).toByte)
    }
}

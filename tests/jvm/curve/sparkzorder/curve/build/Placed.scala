package sparkzorder.curve.build

import sparkzorder.curve.{Block, NormalizedLong, Zone}
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.{Bound, ShareRead, SortedValues}
import sparkzorder.curve.layout.{CompiledLayout, Layout, LayoutColumn, Scale, ScaleBuilder}
import sparkzorder.curve.page.PageTree

/** A layout fitted on a sample of a table, and the whole table placed by it. */
final class Placed(table: Table, val layout: Layout) {
  val compiled: CompiledLayout = layout.compiled

  private val ranks: Array[Array[Int]] = Array.tabulate(table.columns, table.rows) { (c, i) =>
    if (table.isNull(c)(i)) 0 else compiled.rank(c, table.values(c)(i))
  }

  val cell = new Array[Int](table.rows)
  val keys = new Array[Long](table.rows)
  locally {
    val row = new Array[Int](table.columns)
    val scratch = new Array[Int](table.columns)
    (0 until table.rows).foreach { i =>
      row.indices.foreach(c => row(c) = ranks(c)(i))
      cell(i) = compiled.cell(row)
      keys(i) = compiled.key(cell(i), compiled.file(cell(i), i * 0x9e3779b9), row, scratch)
    }
  }

  /** Row numbers in layout order. */
  val order: Array[Int] = Placed.argSort(keys)

  /** Orders the rows of each file by pages; returns where pages begin, and the end. */
  def paged(pageRows: Int): Array[Int] = {
    compiled.pageSides.foreach(sides =>
      fileStarts.sliding(2).foreach(s =>
        PageTree.arrange(order, s(0), s(1), ranks, sides, pageRows.toDouble)))
    pageStarts(pageRows)
  }

  /** Where each file that has rows begins in `order`, and one more entry for the end. */
  val fileStarts: Array[Int] = {
    val starts = order.indices.filter(i =>
      i == 0 || compiled.fileOfKey(keys(order(i))) != compiled.fileOfKey(keys(order(i - 1))))
    (starts :+ table.rows).toArray
  }

  def pageStarts(pageRows: Int): Array[Int] =
    (fileStarts.sliding(2).flatMap(s => s(0) until s(1) by pageRows) ++ Seq(table.rows)).toArray

  /** Rows of each file over the mean. */
  def sizes: Array[Double] =
    fileStarts.sliding(2).map(s => (s(1) - s(0)) * layout.files.toDouble / table.rows).toArray

  def rankOf(column: Int, row: Int): Int = ranks(column)(row)

  private lazy val sorted: Array[SortedValues] = Array.tabulate(table.columns)(c =>
    SortedValues.ofLongs(
      table.values(c).indices.filterNot(table.isNull(c)(_)).map(table.values(c)(_)).toArray))

  def shares(starts: Array[Int]): IndexedSeq[Double] = {
    val blocks =
      starts.sliding(2).map(s => Block(s(1) - s(0), (0 until table.columns).map(zone(_, s(0), s(1))))).toSeq
    ShareRead.ofColumns(blocks, sorted.toIndexedSeq)
  }

  def zone(column: Int, from: Int, until: Int): Zone = {
    var min = Long.MaxValue
    var max = Long.MinValue
    var i = from
    while (i < until) {
      val row = order(i)
      if (!table.isNull(column)(row)) {
        min = math.min(min, table.values(column)(row))
        max = math.max(max, table.values(column)(row))
      }
      i += 1
    }
    if (min > max) Zone.OnlyNulls else Zone.Between(NormalizedLong(min), NormalizedLong(max))
  }

  def bound(blocks: Int): Array[Double] = Placed.bound(table, blocks)
}

object Placed {
  def apply(table: Table, files: Int, builder: LayoutBuilder = AlignedZ, sampleRows: Int = 100000): Placed =
    new Placed(table, fit(table.sample(sampleRows), files, builder))

  def fit(sample: Table, files: Int, builder: LayoutBuilder): Layout = {
    val some = ranked(sample)
    Layout(
      some.scales.zipWithIndex.map { case (s, c) => LayoutColumn(s"c$c", "BIGINT", s) },
      builder.build(some, files),
      builder.name,
      builder.inFile)
  }

  def ranked(sample: Table): RankedSample = {
    val scales = Array.tabulate(sample.columns)(scale(sample, _))
    val ranks = Array.tabulate(sample.columns, sample.rows)((c, i) =>
      if (sample.isNull(c)(i)) 0 else scales(c).rank(NormalizedLong(sample.values(c)(i))))
    new RankedSample(scales.toIndexedSeq, ranks)
  }

  def scale(sample: Table, column: Int): Scale = {
    val values =
      (0 until sample.rows).filterNot(sample.isNull(column)(_)).map(sample.values(column)(_)).toArray
    java.util.Arrays.sort(values)
    ScaleBuilder.ofLongs(values, sample.rows - values.length)
  }

  def bound(table: Table, blocks: Int): Array[Double] = {
    val some = table.sample(5000)
    val mass = Array.tabulate(table.columns) { c =>
      val sorted = table.values(c).indices.filterNot(table.isNull(c)(_)).map(table.values(c)(_)).toArray
      java.util.Arrays.sort(sorted)
      val sortedValues = SortedValues.ofLongs(sorted)
      val nullShare = (table.rows - sorted.length).toDouble / table.rows
      Array.tabulate(some.rows) { i =>
        if (some.isNull(c)(i)) nullShare
        else {
          val normalized = NormalizedLong(some.values(c)(i))
          sortedValues.countBetween(normalized, normalized).toDouble / table.rows
        }
      }
    }
    Bound.perColumn(mass, some.isNull, blocks)
  }

  /** The permutation that sorts non-negative keys: least significant 16 bits first. */
  def argSort(keys: Array[Long]): Array[Int] = {
    var order = Array.range(0, keys.length)
    var spare = new Array[Int](keys.length)
    for (shift <- 0 until 64 by 16) {
      val count = new Array[Int](65537)
      order.foreach(i => count(((keys(i) >>> shift).toInt & 0xffff) + 1) += 1)
      (0 until 65536).foreach(b => count(b + 1) += count(b))
      order.foreach { i =>
        val b = (keys(i) >>> shift).toInt & 0xffff
        spare(count(b)) = i
        count(b) += 1
      }
      val swapped = order
      order = spare
      spare = swapped
    }
    order
  }
}

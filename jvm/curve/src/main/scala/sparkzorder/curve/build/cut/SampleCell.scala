package sparkzorder.curve.build.cut

import sparkzorder.curve.layout.{RankSpan, Scale}

/**
 * A cell while the tree grows: some of the sampled rows, the box of ranks they lie in, and the number of
 * files they are to become. Rows are a slice of one shared permutation, parted in place.
 *
 * @param target
 *   sampled rows per file over the whole table
 * @param turn
 *   where the builder is in its order of cuts. For `AlignedCuts` it is the number of the column to try first.
 *   For `SliceCuts` it is a stage: a place in its own list of columns. Other builders do not look at it.
 */
final private[build] class SampleCell(
    val sample: RankedSample,
    val heavy: IndexedSeq[Array[RankSpan]],
    order: Array[Int],
    from: Int,
    until: Int,
    val box: IndexedSeq[RankSpan],
    val files: Int,
    val target: Double,
    val turn: Int) {

  def columns: Int = sample.columns

  def rows: Int = until - from

  /** Number in the sample of the cell's i-th row. */
  def row(i: Int): Int = order(from + i)

  private[this] val extents = new Array[RankSpan](columns)

  /** Least and greatest rank of a column in the cell; found once, while the rows are where they are. */
  def extent(column: Int): RankSpan = {
    if (extents(column) == null) extents(column) = measured(column)
    extents(column)
  }

  private def measured(column: Int): RankSpan = {
    val ranks = sample.ranks(column)
    var lo = Int.MaxValue
    var hi = Int.MinValue
    var i = from
    while (i < until) {
      val r = ranks(order(i))
      if (r < lo) lo = r
      if (r > hi) hi = r
      i += 1
    }
    RankSpan(lo, hi + 1)
  }

  def rowsBelow(column: Int, rank: Int): Int = {
    val ranks = sample.ranks(column)
    var n = 0
    var i = from
    while (i < until) {
      if (ranks(order(i)) < rank) n += 1
      i += 1
    }
    n
  }

  private[this] val sorted = new Array[Array[Int]](columns)

  /** The ranks of a column in the cell, ascending; found once, and not to be changed. */
  def sortedRanks(column: Int): Array[Int] = {
    if (sorted(column) == null) {
      val ranks = sample.ranks(column)
      val out = new Array[Int](rows)
      var i = 0
      while (i < out.length) {
        out(i) = ranks(order(from + i))
        i += 1
      }
      sorted(column) = RankSort.ascending(out)
    }
    sorted(column)
  }

  /** Rows per file, relative to the table's mean, if `files` of the cell's files get `rows` rows. */
  def load(rows: Int, files: Int): Double = rows.toDouble / files / target

  /** This cell, to be cut into `n` files. */
  def withFiles(n: Int): SampleCell = new SampleCell(sample, heavy, order, from, until, box, n, target, turn)

  /** The two cells on either side of a cut. */
  def part(cut: ProposedCut): (SampleCell, SampleCell) = {
    import cut.{column, leftFiles, rank}
    // not needed any more, and as long as the table
    java.util.Arrays.fill(sorted.asInstanceOf[Array[AnyRef]], null)
    val ranks = sample.ranks(column)
    var i = from
    var j = until - 1
    while (i <= j) {
      if (ranks(order(i)) < rank) i += 1
      else {
        val swapped = order(i)
        order(i) = order(j)
        order(j) = swapped
        j -= 1
      }
    }
    val span = box(column)
    def half(a: Int, b: Int, ranks: RankSpan, n: Int) =
      new SampleCell(
        sample,
        heavy,
        order,
        a,
        b,
        box.updated(column, ranks),
        n,
        target,
        cut.nextTurn.getOrElse((column + 1) % columns))
    (
      half(from, i, RankSpan(span.from, rank), leftFiles),
      half(i, until, RankSpan(rank, span.until), files - leftFiles))
  }
}

private[build] object SampleCell {
  def root(
      sample: RankedSample,
      heavy: IndexedSeq[Array[RankSpan]],
      order: Array[Int],
      files: Int,
      target: Double,
      turn: Int): SampleCell = {
    val box = IndexedSeq.fill(sample.columns)(RankSpan(0, Scale.One))
    new SampleCell(sample, heavy, order, 0, order.length, box, files, target, turn)
  }
}

package sparkzorder.curve.layout

import sparkzorder.curve.NormalizedBytes

/**
 * Fits a scale on a sample: values with many rows become points, the rest is cut into bins of about equal
 * mass. At most 4,096 bins whatever the sample, but for strings of more than 512 files (mid-rank normalisation:
 * Conover's "average ranks" of ties; duplicates are kept, so a heavy value keeps its mass). A column of NULLs has one empty bin, which
 * tells a value that turns up later from NULL.
 */
object ScaleBuilder {

  /** A value with more than this share of the sample, NULLs included, is a point of its own. */
  private val PointShare = 1.0 / 1024

  /** Up to this number of distinct values, each is a point. */
  private val FewValues = 1024

  /** Bins of equal mass that the light values are cut into. */
  private val MassBins = 1024

  /** @param normalized values without NULL, ascending, duplicates kept */
  def ofLongs(normalized: Array[Long], nulls: Int): Scale = {
    if (normalized.isEmpty) return longScale(Array(0L, 1L), Array(0), nulls)
    // the greatest long has no successor; it shares a bin with the one before it
    val sorted =
      if (normalized.last == Long.MaxValue) normalized.map(math.min(_, Long.MaxValue - 1)) else normalized
    val cuts = bins(sorted.length, nulls, MassBins, i => sorted(i) == sorted(i - 1))
    val starts = Array.newBuilder[Long]
    val rows = Array.newBuilder[Int]
    val end = sorted(sorted.length - 1) + 1
    cuts.indices.foreach { i =>
      val bin = cuts(i)
      val value = sorted(bin.from)
      val next = if (i + 1 < cuts.length) sorted(cuts(i + 1).from) else end
      starts += value
      rows += bin.size
      if (bin.point && value + 1 != next) { // the gap up to the next value: nothing was sampled there
        starts += value + 1
        rows += 0
      }
    }
    starts += end
    longScale(starts.result(), rows.result(), nulls)
  }

  /** A scale of numbers from its bins: `starts` has one entry more than `rows`. */
  def longScale(starts: Array[Long], rows: Array[Int], nulls: Int): LongScale = {
    val (low, high) = spans(rows, i => starts(i + 1) - starts(i) == 1L, nulls)
    new LongScale(starts, low, high, rows, nulls, math.max(1, rows.sum + nulls))
  }

  /** A scale of byte strings from its bins. */
  def bytesScale(
      starts: Array[Array[Byte]],
      point: Array[Boolean],
      rows: Array[Int],
      nulls: Int): BytesScale = {
    val (low, high) = spans(rows, _ => true, nulls)
    new BytesScale(starts, point, low, high, rows, nulls, math.max(1, rows.sum + nulls))
  }

  /**
   * @param sorted
   *   non-NULL byte strings, ascending, duplicates kept
   * @param files
   *   into how many files their layout cuts them: no cut falls into a bin, so that each gets two
   */
  def ofBytes(sorted: Array[Array[Byte]], nulls: Int, files: Int): Scale = {
    if (sorted.isEmpty) return bytesScale(Array(Array.emptyByteArray), Array(false), Array(0), nulls)
    val most = math.max(MassBins.toLong, 2L * files).min(sorted.length.toLong).toInt
    val cuts = bins(sorted.length, nulls, most, i => java.util.Arrays.equals(sorted(i), sorted(i - 1)))
    val starts = Array.newBuilder[Array[Byte]]
    val points = Array.newBuilder[Boolean]
    val rows = Array.newBuilder[Int]
    def add(start: Array[Byte], point: Boolean, size: Int): Unit = {
      starts += start
      points += point
      rows += size
    }
    var afterPoint = false
    cuts.foreach { bin =>
      val value = sorted(bin.from)
      val before = if (bin.from == 0) null else sorted(bin.from - 1)
      if (bin.point) {
        if (afterPoint && NormalizedBytes.compareBytes(successor(before), value) < 0)
          add(successor(before), point = false, 0) // the gap between two points
        add(value, point = true, bin.size)
      } else {
        val start =
          if (before == null) value else if (afterPoint) successor(before) else separator(before, value)
        add(start, point = false, bin.size)
      }
      afterPoint = bin.point
    }
    if (afterPoint) add(successor(sorted(sorted.length - 1)), point = false, 0)
    bytesScale(starts.result(), points.result(), rows.result(), nulls)
  }

  /** The least string above `s`. */
  private def successor(s: Array[Byte]): Array[Byte] = java.util.Arrays.copyOf(s, s.length + 1)

  /** The shortest string above `a` and not above `b`, for a < b. */
  private[layout] def separator(a: Array[Byte], b: Array[Byte]): Array[Byte] =
    java.util.Arrays.copyOf(b, BytesScale.commonPrefix(a, b) + 1)

  private final case class Bin(from: Int, until: Int, point: Boolean) {
    def size: Int = until - from
  }

  /** Cuts `[0, n)` into bins, `most` of which are no points, only between different neighbours. */
  private def bins(n: Int, nulls: Int, most: Int, sameAsBefore: Int => Boolean): IndexedSeq[Bin] = {
    val firsts = firstsOf(n, sameAsBefore)
    val few = firsts.length <= FewValues
    val heavy = math.max(2.0, (n + nulls) * PointShare)
    val target = math.max(1.0, n.toDouble / most)
    val out = IndexedSeq.newBuilder[Bin]
    var open = -1
    def close(until: Int): Unit = if (open >= 0) {
      out += Bin(open, until, point = false)
      open = -1
    }
    firsts.indices.foreach { k =>
      val from = firsts(k)
      val until = if (k + 1 < firsts.length) firsts(k + 1) else n
      if (few || until - from > heavy) {
        close(from)
        out += Bin(from, until, point = true)
      } else {
        if (open < 0) open = from
        if (until - open >= target) close(until)
      }
    }
    close(n)
    out.result()
  }

  /** Where each value begins; a loop, since a sample has a hundred thousand. */
  private def firstsOf(n: Int, sameAsBefore: Int => Boolean): Array[Int] = {
    val out = new scala.collection.mutable.ArrayBuilder.ofInt
    var i = 0
    while (i < n) {
      if (i == 0 || !sameAsBefore(i)) out += i
      i += 1
    }
    out.result()
  }

  /** The span of ranks of every bin; `atMiddle` says which have their whole mass in the middle. */
  private def spans(rows: Array[Int], atMiddle: Int => Boolean, nulls: Int): (Array[Int], Array[Int]) = {
    val sampled = math.max(1, rows.sum + nulls)
    val low = new Array[Int](rows.length)
    val high = new Array[Int](rows.length)
    var before = nulls.toLong
    rows.indices.foreach { i =>
      if (atMiddle(i) && rows(i) > 0) {
        low(i) = Scale.rankOf(2 * before + rows(i), 2 * sampled)
        high(i) = low(i)
      } else {
        low(i) = Scale.rankOf(before, sampled)
        high(i) = Scale.rankOf(before + rows(i), sampled)
      }
      before += rows(i)
    }
    (low, high)
  }
}

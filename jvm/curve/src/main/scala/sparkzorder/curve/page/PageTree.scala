package sparkzorder.curve.page

import sparkzorder.curve.layout.PageSides

/**
 * The order of the rows of a file whose writer ends a page after a fixed number of rows: a k-d tree whose
 * every cut leaves a whole number of pages on its left. So each page is one box. The pages of a file along a
 * curve are not, since a page may end at any place of the curve. Where a file has several row groups, these
 * are boxes too.
 */
object PageTree {

  /**
   * Puts the rows of one file in the order of their pages; inside a page they keep the order in which they
   * are given. Deterministic: of rows with the same rank, the first ones go left.
   *
   * @param order
   *   row numbers along a curve through all columns; those at `[from, until)` are the file's
   * @param ranks
   *   by column and row number; 0 is NULL
   * @param sides
   *   what the cuts shorten
   * @param pageRows
   *   rows of a page; a fraction where the rows are a sample. The last page has what is left.
   * @param groupPages
   *   pages of a row group: row groups are parted first
   */
  def arrange(
      order: Array[Int],
      from: Int,
      until: Int,
      ranks: Array[Array[Int]],
      sides: PageSides,
      pageRows: Double,
      groupPages: Int = Int.MaxValue): Unit =
    if (until - from > pageRows)
      new PageTree(order, from, until, ranks, sides, pageRows, groupPages).cutAll()

  /** The number of pages of a file. */
  def pages(rows: Int, pageRows: Double): Int = math.max(1, math.ceil(rows / pageRows - Rounding).toInt)

  /** Row at which a page begins. */
  def start(page: Int, pageRows: Double, rows: Int): Int =
    math.min(rows.toLong, math.round(page * pageRows)).toInt

  /** Where a node of pages is parted: between row groups, nearest to its middle; else in its middle. */
  def middle(firstPage: Int, endPage: Int, groupPages: Int): Int = {
    val half = (firstPage + endPage) >>> 1
    val below = half / groupPages * groupPages
    val above = below.toLong + groupPages
    if (below > firstPage && (half - below <= above - half || above >= endPage)) below
    else if (above < endPage) above.toInt
    else half
  }

  /** A remnant of less than this part of a page is an error of the arithmetic. */
  private val Rounding = 1e-9
}

final private class PageTree(
    order: Array[Int],
    first: Int,
    end: Int,
    ranks: Array[Array[Int]],
    sides: PageSides,
    pageRows: Double,
    groupPages: Int) {
  private[this] val rows = end - first
  private[this] val choice = new CutChoice(ranks, sides)
  private[this] val selection = new RankSelection
  private[this] val spare = new Array[Int](rows)

  def cutAll(): Unit = cut(0, PageTree.pages(rows, pageRows))

  /** Parts the rows of these pages, until each page has its own. */
  private def cut(firstPage: Int, endPage: Int): Unit = if (endPage - firstPage > 1) {
    val middle = PageTree.middle(firstPage, endPage, groupPages)
    val from = start(firstPage)
    val until = start(endPage)
    val left = start(middle) - from
    if (left > 0 && left < until - from) part(from, until, left)
    cut(firstPage, middle)
    cut(middle, endPage)
  }

  private def start(page: Int): Int = first + PageTree.start(page, pageRows, rows)

  /** Puts the `left` rows with the least ranks first; both parts keep their order. */
  private def part(from: Int, until: Int, left: Int): Unit = {
    val by = ranks(choice.column(order, from, until, left))
    val n = until - from
    var i = 0
    while (i < n) {
      spare(i) = by(order(from + i))
      i += 1
    }
    val border = selection.nth(spare, n, left)
    var below = 0
    i = from
    while (i < until) {
      if (by(order(i)) < border) below += 1
      i += 1
    }
    var equal = left - below
    var onLeft = from
    var onRight = 0
    i = from
    while (i < until) {
      val row = order(i)
      val rank = by(row)
      val goesLeft = rank < border || (rank == border && equal > 0)
      if (goesLeft) {
        if (rank == border) equal -= 1
        order(onLeft) = row
        onLeft += 1
      } else {
        spare(onRight) = row
        onRight += 1
      }
      i += 1
    }
    System.arraycopy(spare, 0, order, onLeft, onRight)
  }
}

/**
 * Chooses the column by which the rows of a node are parted: the one that makes the sides of the two parts
 * shortest. It looks at some of the rows, taken evenly along the present order, which follows a curve through
 * all columns.
 */
final private[page] class CutChoice(ranks: Array[Array[Int]], sides: PageSides) {
  private[this] val columns = sides.columns
  private[this] val rows = new Array[Int](CutChoice.MostRows)
  private[this] val sorted = new Array[Long](CutChoice.MostRows)

  /**
   * The column to cut by.
   *
   * @param order
   *   row numbers; those at `[from, until)` are the node's
   * @param left
   *   rows that the cut puts on the left
   */
  def column(order: Array[Int], from: Int, until: Int, left: Int): Int = {
    val n = until - from
    val some = math.min(n, math.max(CutChoice.LeastRows, math.min(CutChoice.MostRows, n / CutChoice.Part)))
    var i = 0
    while (i < some) {
      rows(i) = order(from + ((2L * i + 1) * n / (2L * some)).toInt)
      i += 1
    }
    val at = math.max(1, math.min(some - 1, math.round(some.toDouble * left / n).toInt))
    var best = 0
    var least = Double.PositiveInfinity
    var c = 0
    while (c < columns) {
      val length = ifCutBy(c, some, at)
      if (length < least) {
        least = length
        best = c
      }
      c += 1
    }
    best
  }

  /** The sides of both parts, each as often as it has rows. */
  private def ifCutBy(column: Int, some: Int, at: Int): Double = {
    var i = 0
    while (i < some) {
      sorted(i) = (ranks(column)(rows(i)).toLong << 32) | rows(i)
      i += 1
    }
    java.util.Arrays.sort(sorted, 0, some)
    at * sidesOf(0, at) + (some - at) * sidesOf(at, some)
  }

  private def sidesOf(from: Int, until: Int): Double = {
    var sum = 0.0
    var c = 0
    while (c < columns) {
      var low = Int.MaxValue
      var high = -1
      var i = from
      while (i < until) {
        val rank = ranks(c)(sorted(i).toInt)
        if (rank > 0) {
          low = math.min(low, rank)
          high = math.max(high, rank)
        }
        i += 1
      }
      sum += sides(c, low, high)
      c += 1
    }
    sum
  }
}

private object CutChoice {

  /** Rows that are looked at: one of `Part`, but between these. */
  val MostRows = 256
  val LeastRows = 64
  val Part = 16
}

/** Finds the n-th of many ranks without sorting them, in time that no order of the ranks makes longer. */
final private[page] class RankSelection {
  private[this] val buckets = new Array[Int](RankSelection.Buckets)

  /**
   * The rank that would be at place `n` if the first `count` of them were sorted.
   *
   * @param ranks
   *   not negative; overwritten
   */
  def nth(ranks: Array[Int], count: Int, n: Int): Int = {
    var size = count
    var place = n
    var low = 0
    var high = 0
    var found = false
    while (!found) {
      low = ranks(0)
      high = low
      var i = 1
      while (i < size) {
        low = math.min(low, ranks(i))
        high = math.max(high, ranks(i))
        i += 1
      }
      if (low == high) found = true
      else if (size <= RankSelection.Few) {
        java.util.Arrays.sort(ranks, 0, size)
        low = ranks(place)
        found = true
      } else {
        val shift = math.max(0, 32 - RankSelection.Bits - Integer.numberOfLeadingZeros(high - low))
        val bucket = bucketOf(ranks, size, low, shift, place)
        place -= below(bucket)
        size = keep(ranks, size, low, shift, bucket)
      }
    }
    low
  }

  /** The bucket that holds the rank at `place`; leaves the sizes of all in `buckets`. */
  private def bucketOf(ranks: Array[Int], size: Int, low: Int, shift: Int, place: Int): Int = {
    java.util.Arrays.fill(buckets, 0)
    var i = 0
    while (i < size) {
      buckets((ranks(i) - low) >>> shift) += 1
      i += 1
    }
    var bucket = 0
    var until = buckets(0)
    while (until <= place) {
      bucket += 1
      until += buckets(bucket)
    }
    bucket
  }

  private def below(bucket: Int): Int = {
    var sum = 0
    var b = 0
    while (b < bucket) {
      sum += buckets(b)
      b += 1
    }
    sum
  }

  private def keep(ranks: Array[Int], size: Int, low: Int, shift: Int, bucket: Int): Int = {
    var kept = 0
    var i = 0
    while (i < size) {
      val rank = ranks(i)
      if ((rank - low) >>> shift == bucket) {
        ranks(kept) = rank
        kept += 1
      }
      i += 1
    }
    kept
  }
}

private object RankSelection {
  // scalafix:off DisableSyntax
  // final: the compiler folds it into the loops
  final val Bits = 11
  // scalafix:on DisableSyntax
  val Buckets: Int = 1 << Bits

  /** So few ranks are sorted sooner than counted. */
  val Few = 64
}

package sparkzorder.curve.page

import sparkzorder.curve.layout.PageSides

/**
 * The order of the rows of a file whose writer ends a page after a fixed number of rows: a k-d tree whose every cut
 * leaves a whole number of pages on its left. So each page is one box, where a curve, however good, ends its pages
 * anywhere. Where a file has several row groups, these are boxes too.
 */
object PageTree {

  /**
   * Puts the rows of one file in the order of their pages; inside a page they keep the order in which they are given.
   * Deterministic: of rows with the same rank, the first ones go left.
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

  /** Where a node of pages is parted: between row groups, as near to its middle as that is; else in its middle. */
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

package sparkzorder.curve.page

/**
 * Where the writer of a file ends pages and row groups.
 *
 * @param pageRows
 *   rows of every page but the last one of a row group; a fraction where the rows are a sample
 * @param rowGroupRows
 *   rows of a full row group; an expectation where the writer does not count them
 * @param counted
 *   whether the writer counts the rows of a row group, which then has a whole number of pages. Otherwise it counts
 *   bytes, and pages are not known beforehand in files that may have a second row group, since counting begins anew there
 */
final case class PageCut(pageRows: Double, rowGroupRows: Double, counted: Boolean = false) {

  /** Whether the pages of a file with so many rows are known beforehand. */
  def foresees(rows: Double): Boolean = counted || rowGroupsAFile(rows) <= 1.0

  /** How many times as large row groups would have to be for a file of so many rows to surely have one. */
  def rowGroupsAFile(rows: Double): Double = rows / (PageCut.OneRowGroup * rowGroupRows)

  /** Pages of a row group. */
  def groupPages: Int =
    if (counted) math.max(1L, math.round(rowGroupRows / pageRows)).toInt else Int.MaxValue

  /** The same of a sample, one row of which stands for so many. */
  def sampled(each: Double): PageCut = copy(pageRows / each, rowGroupRows / each)
}

object PageCut {

  /** A file with at most this part of the rows that a row group is expected to hold surely has one row group. */
  val OneRowGroup = 0.75

  /**
   * How many times the bytes of a usual row group the writer may take where it counts rows: these end row groups, as long
   * as rows are not wider than was foreseen by more than that. In a new order, columns can compress worse.
   */
  val ByteSlack = 2.0

  /** Every file is one page. */
  val Whole: PageCut = PageCut(Double.MaxValue, Double.MaxValue)
}

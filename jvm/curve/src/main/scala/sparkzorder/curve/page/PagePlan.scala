package sparkzorder.curve.page

/** How many rows pages and row groups should have, so that those of a file are alike. */
object PagePlan {

  /**
   * By how much files may be larger than the mean, as their cuts come from a sample. A file that is larger
   * than that has a small page more.
   */
  private val Spread = 1.06

  /** Row groups are made larger by less than this part, rather than one more. */
  private val Slack = 0.1

  /** Files of more row groups have a small one more in any case. */
  private val MostEven = 8.0

  /**
   * The rows of a page: `most`, or fewer where all files have the same number of pages anyhow.
   *
   * @param files
   *   mean rows of the files of each partition; none where they are not known
   */
  def rows(files: Seq[Double], most: Int): Int = {
    val pages = files.map(rows => math.ceil(rows / most).toLong).distinct
    if (pages.length != 1 || pages.head < 2) most
    else math.min(most.toDouble, math.ceil(files.max * Spread / pages.head)).toInt
  }

  /**
   * Pages and row groups of a writer that counts the rows of both: row groups of a whole number of pages, and
   * of even size where all files have the same number of them. A file that is written again keeps the size of
   * its row groups.
   *
   * @param files
   *   as above
   * @param mostPage
   *   rows of a page
   * @param rowGroupRows
   *   rows that a row group would have if the writer counted bytes
   */
  def counted(files: Seq[Double], mostPage: Int, rowGroupRows: Double): PageCut = {
    val usual = math.max(1.0, math.min(Int.MaxValue / 2.0, rowGroupRows))
    val groups = files.map(rows => math.max(1.0, math.ceil(rows / usual - Slack))).distinct
    if (groups == Seq(1.0)) {
      val page = rows(files, mostPage).toDouble
      PageCut(page, math.ceil(math.max(usual, files.max * Spread) / page) * page, counted = true)
    } else {
      val even = groups.length == 1 && groups.head <= MostEven
      val group = if (even) files.max * Spread / groups.head else usual
      val pages = math.ceil(group / mostPage)
      val page = math.ceil(group / pages)
      PageCut(page, pages * page, counted = true)
    }
  }
}

/**
 * Where the writer of a file ends pages and row groups.
 *
 * @param pageRows
 *   rows of every page but the last one of a row group; a fraction where the rows are a sample
 * @param rowGroupRows
 *   rows of a full row group; an expectation where the writer does not count them
 * @param counted
 *   whether the writer counts the rows of a row group, which then has a whole number of pages. Otherwise it
 *   counts bytes, and pages are not known beforehand in files that may have a second row group, since
 *   counting begins anew there
 */
final case class PageCut(pageRows: Double, rowGroupRows: Double, counted: Boolean = false) {

  /** Whether the pages of a file with so many rows are known beforehand. */
  def foresees(rows: Double): Boolean = counted || rowGroupsAFile(rows) <= 1.0

  /** How many times as large row groups would have to be for a file of so many rows to surely have one. */
  def rowGroupsAFile(rows: Double): Double = rows / (PageCut.OneRowGroup * rowGroupRows)

  /** Pages of a row group. */
  def groupPages: Int =
    if (counted) math.max(1L, math.round(rowGroupRows / pageRows)).toInt else Int.MaxValue

  /** The cut for a sample of which each row stands for `each` rows. */
  def sampled(each: Double): PageCut = copy(pageRows / each, rowGroupRows / each)
}

object PageCut {

  /**
   * A file with at most this part of the rows that a row group is expected to hold surely has one row group.
   */
  val OneRowGroup = 0.75

  /**
   * How many times the bytes of a usual row group the writer may take where it counts rows: these end row
   * groups, as long as rows are not wider than was foreseen by more than that. In a new order, columns can
   * compress worse.
   */
  val ByteSlack = 2.0

  /** Every file is one page. */
  val Whole: PageCut = PageCut(Double.MaxValue, Double.MaxValue)
}

package sparkzorder.curve.page

/** How many rows pages and row groups should have, so that those of a file are alike. */
object PagePlan {

  /**
   * By how much files may be larger than the mean, as their cuts come from a sample. A file that is larger than that
   * has a small page more.
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
   * Pages and row groups of a writer that counts the rows of both: row groups of a whole number of pages, and of even
   * size where all files have the same number of them. A file that is written again keeps the size of its row groups.
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

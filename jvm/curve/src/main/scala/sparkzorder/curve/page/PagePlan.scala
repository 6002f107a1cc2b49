package sparkzorder.curve.page

/** How many rows a page should have, so that the pages of a file are alike. */
object PagePlan {

  /** A file with at most this part of the rows that a row group is expected to hold surely has one row group. */
  val OneRowGroup = 0.75

  /**
   * By how much files may be larger than the mean, as their cuts come from a sample. A file that is larger than that
   * has a small page more.
   */
  private val Spread = 1.06

  /**
   * The rows of a page: `most`, or fewer where all files have the same number of pages anyhow.
   *
   * @param files
   *   mean rows of the files of each partition
   */
  def rows(files: Seq[Double], most: Int): Int = {
    val pages = files.map(rows => math.ceil(rows / most).toLong).distinct
    if (pages.length != 1 || pages.head < 2) most
    else math.min(most.toDouble, math.ceil(files.max * Spread / pages.head)).toInt
  }
}

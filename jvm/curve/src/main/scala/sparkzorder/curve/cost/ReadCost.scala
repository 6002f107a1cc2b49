package sparkzorder.curve.cost

/** What a layout costs its queries: one number from the shares of the table that they read. */
object ReadCost {

  /** Files and pages weigh the same: a file that is skipped is never opened, a page that is skipped is never read. */
  def of(files: Double, pages: Double): Double = (files + pages) / 2
}

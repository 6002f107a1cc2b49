package sparkzorder.curve.build.cut

/**
 * How the files of a cell are divided between the two sides of a cut. Halves are preferred, since they keep
 * the cells alike; a side may have 0.7 to 1.4 times the table's mean rows per file.
 */
private[build] object FileAllocation {
  private val Least = 0.7
  val Most = 1.4

  /** A side with fewer rows than this share of a file is not cut off; a quarter, with room for sampling. */
  val SmallestFile = 0.3

  /** Files of the left side, or None if no share keeps both sides within bounds. */
  def within(cell: SampleCell, leftRows: Int): Option[Int] = {
    val rightRows = cell.rows - leftRows
    val m = cell.files
    val half = if (leftRows <= rightRows) m / 2 else m - m / 2
    Seq(half, m - half, byMass(cell, leftRows)).find(alike(cell, leftRows, _))
  }

  /** Whether both sides of a cut keep near the table's mean rows per file. */
  def alike(cell: SampleCell, leftRows: Int, leftFiles: Int): Boolean =
    loads(cell, leftRows, leftFiles, Least)

  /** Files of the left side by its rows, also where that leaves a small file; None if it were too small. */
  def setApart(cell: SampleCell, leftRows: Int): Option[Int] =
    Some(byMass(cell, leftRows)).filter(loads(cell, leftRows, _, SmallestFile))

  private def loads(cell: SampleCell, leftRows: Int, leftFiles: Int, least: Double): Boolean = {
    val a = cell.load(leftRows, leftFiles)
    val b = cell.load(cell.rows - leftRows, cell.files - leftFiles)
    a >= least && a <= Most && b >= least && b <= Most
  }

  /** Files of the left side in proportion to its rows, at least one for each side. */
  def byMass(cell: SampleCell, leftRows: Int): Int = {
    val share = math.round(cell.files.toDouble * leftRows / cell.rows).toInt
    math.max(1, math.min(cell.files - 1, share))
  }

  /**
   * Files that a cell becomes which no cut divides: as many as it was meant for, unless these would be far
   * too large or too small.
   */
  def spread(cell: SampleCell): Int = {
    val load = cell.load(cell.rows, cell.files)
    if (load >= 0.6 && load <= TreeGrower.Overfull) cell.files
    else math.max(1, math.round(cell.rows / cell.target).toInt)
  }

  /**
   * The cell with the files that its neighbour did not use, if its files then are still about equal.
   *
   * @param leftOver
   *   how many these are; negative if the neighbour took more than it was meant to
   */
  def evenedOut(cell: SampleCell, leftOver: Int): SampleCell = {
    val files = math.max(1, cell.files + leftOver)
    val load = cell.load(cell.rows, files)
    if (leftOver == 0 || load < Least || load > Most) cell else cell.withFiles(files)
  }

  /** How far the worse side is from the mean, as a ratio >= 1. */
  def imbalance(cell: SampleCell, leftRows: Int, leftFiles: Int): Double = {
    def off(load: Double) = math.max(load, 1.0 / load)
    math.max(
      off(cell.load(leftRows, leftFiles)),
      off(cell.load(cell.rows - leftRows, cell.files - leftFiles)))
  }
}

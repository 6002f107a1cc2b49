package sparkzorder.curve.build.cut

/** Cuts between two values so that the sides hold the rows of their files. */
private[build] object QuantileCuts {

  /** The cuts on either side of the value where half of the files end, and how uneven they are. */
  def of(cell: SampleCell, column: Int): Seq[(ProposedCut, Double)] = of(cell, column, cell.files / 2)

  /** The cuts on either side of the value at which `leftFiles` of the files end. */
  private def of(cell: SampleCell, column: Int, leftFiles: Int): Seq[(ProposedCut, Double)] = {
    val sorted = cell.sortedRanks(column)
    val n = sorted.length
    val middle = sorted((n.toLong * leftFiles / cell.files).toInt)
    Seq(firstAt(sorted, middle), firstAt(sorted, middle + 1)).distinct.collect {
      case below if below > 0 && below < n && bigEnough(cell, below) =>
        val files = FileAllocation.byMass(cell, below)
        (ProposedCut(column, sorted(below), files), FileAllocation.imbalance(cell, below, files))
    }
  }

  /** The most even of these cuts, unless its files would not be alike. */
  def best(cell: SampleCell, column: Int): Option[ProposedCut] = best(cell, column, cell.files / 2)

  def best(cell: SampleCell, column: Int, leftFiles: Int): Option[ProposedCut] = {
    val cuts = of(cell, column, leftFiles).filter(_._2 <= FileAllocation.Most)
    if (cuts.isEmpty) None else Some(cuts.minBy(_._2)._1)
  }

  /** The most even cut of any column, however uneven; columns that are named first win ties. */
  def mostEven(cell: SampleCell, columns: Seq[Int]): Option[ProposedCut] = {
    val cuts = columns.flatMap(of(cell, _))
    if (cuts.isEmpty) None else Some(cuts.minBy(_._2)._1)
  }

  private def bigEnough(cell: SampleCell, below: Int): Boolean =
    math.min(below, cell.rows - below) >= FileAllocation.SmallestFile * cell.target

  /** Index of the first element >= value. */
  def firstAt(sorted: Array[Int], value: Int): Int = {
    var lo = 0
    var hi = sorted.length
    while (lo < hi) {
      val mid = (lo + hi) >>> 1
      if (sorted(mid) < value) lo = mid + 1 else hi = mid
    }
    lo
  }
}

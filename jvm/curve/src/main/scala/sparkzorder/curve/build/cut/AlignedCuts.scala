package sparkzorder.curve.build.cut

import sparkzorder.curve.layout.RankSpan

/**
 * Divides the columns in turn. A cut that would fall into a heavy value moves to that value's nearer edge;
 * where no cut makes files that are alike, the cut of any column that parts the rows best is taken.
 *
 * @param firstTurn
 *   the column to begin with
 * @param choice
 *   which of the possible cuts of a cell is taken
 * @param places
 *   where a column may be cut
 */
final private[build] class AlignedCuts(
    override protected val firstTurn: Int,
    choice: AlignedCuts.Choice,
    places: AlignedCuts.Places)
    extends TreeGrower {
  import AlignedCuts._

  override protected def propose(cell: SampleCell): Option[ProposedCut] = {
    val turns = (0 until cell.columns).map(k => (cell.turn + k) % cell.columns)
    val varying = turns.filter(cell.extent(_).width > 1)
    val inTurn = varying.iterator.map(c => c -> places(cell, c)).filter(_._2.nonEmpty)
    if (inTurn.hasNext) Some(chosen(cell, inTurn)) else QuantileCuts.mostEven(cell, varying)
  }

  private def chosen(cell: SampleCell, inTurn: Iterator[(Int, Seq[ProposedCut])]): ProposedCut =
    choice match {
      case KeepTurns => inTurn.next()._2.head
      case MostGain => best(inTurn.flatMap { case (c, cuts) => cuts.map(p => p -> ownGain(cell, c, p.rank)) })
      case MostGainOfAll => best(inTurn.flatMap { case (c, cuts) => cuts.zip(gainsOfAll(cell, c, cuts)) })
    }

  private def best(gains: Iterator[(ProposedCut, Double)]): ProposedCut =
    gains.reduceLeft((a, b) => if (b._2 > a._2 * Clearly) b else a)._1

  /** By how much fewer rows of the cell look-ups on the column that is cut read. */
  private def ownGain(cell: SampleCell, column: Int, rank: Int): Double = {
    val sorted = cell.sortedRanks(column)
    val values = QuantileCuts.firstAt(sorted, 1)
    val below = QuantileCuts.firstAt(sorted, rank)
    def read(rows: Int, from: Int, until: Int): Double =
      if (from >= until) 0.0
      else rows * cell.sample.shareOfValues(column, RankSpan(sorted(from), sorted(until - 1) + 1))
    read(cell.rows, values, cell.rows) - read(below, values, below) -
      read(cell.rows - below, math.max(values, below), cell.rows)
  }

  /** The gain of each cut for look-ups on all columns. */
  private def gainsOfAll(cell: SampleCell, column: Int, cuts: Seq[ProposedCut]): Seq[Double] = {
    val ranks = cuts.map(_.rank).distinct.sorted
    val sides = new CutSides(cell, column, ranks.toArray)
    cuts.map { p =>
      val k = ranks.indexOf(p.rank)
      val left = sides.rowsLeft(k)
      (0 until cell.columns).map { c =>
        cell.rows * sides.all.cover(cell.sample, c) -
          left * sides.left(k).cover(cell.sample, c) -
          (cell.rows - left) * sides.right(k).cover(cell.sample, c)
      }.sum
    }
  }
}

private[build] object AlignedCuts {

  sealed trait Choice

  /** Every column waits for its turn. */
  case object KeepTurns extends Choice

  /** The cut by which look-ups on its own column gain most; turns decide between near equals. */
  case object MostGain extends Choice

  /** Takes the cut with the most gain for look-ups on all columns. Where columns depend on each other, a cut narrows several. */
  case object MostGainOfAll extends Choice

  /** What is out of turn has to gain more than this many times as much. */
  private val Clearly = 1.02

  /** The cuts of a cell that may be made in one column. */
  type Places = (SampleCell, Int) => Seq[ProposedCut]

  /** At the middle of the cell's ranks. */
  val Halves: Places = (cell, column) => Halving.of(cell, column).toSeq

  /** Where the rows of the cell divide as the halves of its files do. */
  val Quantiles: Places = (cell, column) => QuantileCuts.best(cell, column).toSeq

  /** As `Quantiles`, and also at a third of the files from either end: rows in clusters have their gaps anywhere. */
  val Thirds: Places = (cell, column) => {
    val (half, third) = (cell.files / 2, cell.files / 3)
    val leftFiles = Seq(half, third, cell.files - third).distinct.filter(f => f > 0 && f < cell.files)
    leftFiles.flatMap(QuantileCuts.best(cell, column, _))
  }
}

/**
 * Cuts at the next bit of a column's ranks. One that would fall into a heavy value moves to that value's
 * nearer edge; there a small file may be cut off, so that look-ups of other values do not read the heavy one.
 */
private[build] object Halving {

  /** A cut at the middle of the ranks, or None where no such cut makes files that are alike. */
  def of(cell: SampleCell, column: Int): Option[ProposedCut] = {
    val extent = cell.extent(column)
    val middle = firstHalving(cell.box(column), extent)
    outsideHeavy(middle, extent, cell.heavy(column)).flatMap { rank =>
      val below = cell.rowsBelow(column, rank)
      if (below == 0 || below == cell.rows) None
      else {
        val apart = if (rank == middle) None else FileAllocation.setApart(cell, below)
        FileAllocation.within(cell, below).orElse(apart).map(ProposedCut(column, rank, _))
      }
    }
  }

  /** Halves the span until the border parts the extent: bits that do not split are skipped. */
  private def firstHalving(span: RankSpan, extent: RankSpan): Int = {
    var from = span.from
    var until = span.until
    var middle = (from + until) >>> 1
    while (extent.until <= middle || extent.from >= middle) {
      if (extent.until <= middle) until = middle else from = middle
      middle = (from + until) >>> 1
    }
    middle
  }

  /** The rank itself, or the edge of the heavy span around it that is nearer and parts the extent. */
  private def outsideHeavy(rank: Int, extent: RankSpan, heavy: Array[RankSpan]): Option[Int] =
    heavy.find(h => h.from < rank && rank < h.until) match {
      case None => Some(rank)
      case Some(h) =>
        val edges = Seq(h.from, h.until).filter(e => e > extent.from && e < extent.until)
        if (edges.isEmpty) None else Some(edges.minBy(e => math.abs(e - rank)))
    }
}

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

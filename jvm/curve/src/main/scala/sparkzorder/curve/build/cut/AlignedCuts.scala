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

  /**
   * Takes the cut with the most gain for look-ups on all columns. Where columns depend on each other, a cut
   * narrows several.
   */
  case object MostGainOfAll extends Choice

  /** What is out of turn has to gain more than this many times as much. */
  private val Clearly = 1.02

  /** The cuts of a cell that may be made in one column. */
  type Places = (SampleCell, Int) => Seq[ProposedCut]

  /** At the middle of the cell's ranks. */
  val Halves: Places = (cell, column) => Halving.of(cell, column).toSeq

  /** Where the rows of the cell divide as the halves of its files do. */
  val Quantiles: Places = (cell, column) => QuantileCuts.best(cell, column).toSeq

  /** As `Quantiles`, and also at a third of the files from either end: clusters have their gaps anywhere. */
  val Thirds: Places = (cell, column) => {
    val (half, third) = (cell.files / 2, cell.files / 3)
    val leftFiles = Seq(half, third, cell.files - third).distinct.filter(f => f > 0 && f < cell.files)
    leftFiles.flatMap(QuantileCuts.best(cell, column, _))
  }
}

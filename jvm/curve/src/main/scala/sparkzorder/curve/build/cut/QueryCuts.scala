package sparkzorder.curve.build.cut

import sparkzorder.curve.cost.RankQueries

/**
 * Cuts every cell where the queries that reach it gain most: the cost of a cut is the rows of each side
 * times the queries that touch the side's own, tight extents (the greedy construction of qd-trees: Yang et
 * al., SIGMOD 2020, with k-d cuts at quantiles as candidates).
 *
 * @param literals
 *   cuts at the ends of the queries' intervals are candidates as well
 */
final private[build] class QueryCuts(queries: RankQueries, literals: Boolean) extends TreeGrower {
  import QueryCuts._

  override protected def propose(cell: SampleCell): Option[ProposedCut] = {
    val all = new CutSides(cell, 0, Array.empty).all
    val touching =
      Array.range(0, queries.size).filter(queries.touches(_, all.low, all.high, all.holdsNull))
    val varying = (0 until cell.columns).filter(all.varies)
    val scored = varying.flatMap(c => score(cell, c, touching))
    if (scored.nonEmpty) Some(scored.reduceLeft((a, b) => if (b.better(a)) b else a).proposal)
    else QuantileCuts.mostEven(cell, varying)
  }

  /** The best cut of one column. */
  private def score(cell: SampleCell, column: Int, touching: Array[Int]): Option[Scored] = {
    val quantiles = quantileCuts(cell, column)
    val wanted = if (literals) literalCuts(column, touching) else Array.empty[Int]
    val cuts = (quantiles ++ wanted).distinct.sorted
    val sides = new CutSides(cell, column, cuts)
    var best: Option[Scored] = None
    var k = 0
    while (k < cuts.length) {
      val below = sides.rowsLeft(k)
      if (below > 0 && below < cell.rows) {
        val files = FileAllocation.byMass(cell, below)
        if (FileAllocation.alike(cell, below, files)) {
          val penalty = if (quantiles.contains(cuts(k))) 1.0 else LiteralPenalty
          val cost = penalty * (below * weightOf(touching, sides.left(k)) +
            (cell.rows - below) * weightOf(touching, sides.right(k)))
          val off = math.abs(below.toDouble / cell.rows - (cell.files / 2).toDouble / cell.files)
          val next = Scored(ProposedCut(column, cuts(k), files), cost, off)
          if (best.forall(next.better)) best = Some(next)
        }
      }
      k += 1
    }
    best
  }

  private def weightOf(touching: Array[Int], side: RankExtents): Double = {
    var sum = 0.0
    var i = 0
    while (i < touching.length) {
      val q = touching(i)
      if (queries.touches(q, side.low, side.high, side.holdsNull)) sum += queries.weights(q)
      i += 1
    }
    sum
  }

  private def quantileCuts(cell: SampleCell, column: Int): Array[Int] = {
    val sorted = cell.sortedRanks(column)
    val half = (cell.files / 2).toDouble / cell.files
    val shares = if (cell.files > 3) Offsets.map(half + _) else Array(half)
    shares.flatMap { share =>
      val at = sorted(math.min(sorted.length - 1, (sorted.length * share).toInt))
      val after = QuantileCuts.firstAt(sorted, at + 1)
      if (after < sorted.length) Array(at, sorted(after)) else Array(at)
    }.distinct
  }

  /** Ends of the intervals that queries which reach the cell ask for; evenly thinned when there are many. */
  private def literalCuts(column: Int, touching: Array[Int]): Array[Int] = {
    val ends = for {
      q <- touching
      conjunction <- queries.ranges(q)
      i <- conjunction.columns.indices if conjunction.columns(i) == column
      k <- conjunction.lows(i).indices
      end <- Array(conjunction.lows(i)(k), conjunction.highs(i)(k) + 1)
    } yield end
    val distinct = ends.distinct.sorted
    if (distinct.length <= MostLiterals) distinct
    else Array.tabulate(MostLiterals)(i =>
      distinct((i.toLong * (distinct.length - 1) / (MostLiterals - 1)).toInt))
  }
}

private[build] object QueryCuts {

  /** Where cuts are tried beside the one that gives the two sides their files: shares of the rows. */
  private val Offsets = Array(0.0, -0.12, -0.06, 0.06, 0.12)

  private val MostLiterals = 24

  /** A literal has to be better by so much: the next queries may ask for others. */
  private val LiteralPenalty = 1.03

  /** @param off how far the cut is from the share of the rows that suits the files */
  private final case class Scored(proposal: ProposedCut, cost: Double, off: Double) {
    def better(that: Scored): Boolean = cost < that.cost || cost == that.cost && off < that.off
  }
}

/**
 * Rows and extents on either side of several cuts of one column, all found in one pass over each column.
 *
 * @param cuts
 *   ranks, ascending and distinct; rows below a cut are on its left
 */
final private[build] class CutSides(cell: SampleCell, column: Int, cuts: Array[Int]) {
  private[this] val between = Array.fill(cuts.length + 1)(new RankExtents(cell.columns))
  private[this] val count = new Array[Int](cuts.length + 1)

  locally {
    val slots = slotOfRows()
    var c = 0
    while (c < cell.columns) {
      extend(c, slots)
      c += 1
    }
  }

  /** Between which cuts each row of the cell lies. */
  private def slotOfRows(): Array[Int] = {
    val slots = new Array[Int](cell.rows)
    val ranks = cell.sample.ranks(column)
    var i = 0
    while (i < slots.length) {
      val slot = if (cuts.length == 0) 0 else QuantileCuts.firstAt(cuts, ranks(cell.row(i)) + 1)
      count(slot) += 1
      slots(i) = slot
      i += 1
    }
    slots
  }

  /** One column at a time: its ranks stay in the processor's cache. */
  private def extend(c: Int, slots: Array[Int]): Unit = {
    val ranks = cell.sample.ranks(c)
    val low = between.map(_.low(c))
    val high = between.map(_.high(c))
    var i = 0
    while (i < slots.length) {
      val rank = ranks(cell.row(i))
      val slot = slots(i)
      if (rank == 0) between(slot).holdsNull(c) = true
      else {
        if (rank < low(slot)) low(slot) = rank
        if (rank > high(slot)) high(slot) = rank
      }
      i += 1
    }
    var slot = 0
    while (slot < between.length) {
      between(slot).low(c) = low(slot)
      between(slot).high(c) = high(slot)
      slot += 1
    }
  }

  private[this] val rowsUpTo: Array[Int] = count.scanLeft(0)(_ + _).tail
  private[this] val upTo: Array[RankExtents] = between.tail.scanLeft(between.head)(_ and _)
  private[this] val from: Array[RankExtents] = between.init.scanRight(between.last)(_ and _)

  def rowsLeft(cut: Int): Int = rowsUpTo(cut)

  def left(cut: Int): RankExtents = upTo(cut)

  def right(cut: Int): RankExtents = from(cut + 1)

  /** The extents of the whole cell. */
  def all: RankExtents = from(0)
}

package sparkzorder.curve.advise

import sparkzorder.curve.build.{
  AutoChoice,
  CurveRegistry,
  HeldOut,
  Lexical,
  QueryShares,
  SliceTree,
  WorkloadShapes
}
import sparkzorder.curve.build.cut.RankedSample
import sparkzorder.curve.cost.RankQueries

/**
 * Finds the columns to cluster by: starts with none and adds the one that lets queries read least, as told by
 * rows and queries that nothing was fitted on. Deterministic.
 *
 * @param rows
 *   to fit on, all candidate columns
 * @param queries
 *   to fit by
 * @param logged
 *   whether they are of a log, and not those that stand for one
 * @param heldOut
 *   to judge by
 */
final class ColumnSearch(
    rows: RankedSample,
    queries: RankQueries,
    logged: Boolean,
    heldOut: HeldOut,
    files: Int,
    pagesPerFile: Double) {
  import ColumnSearch._

  private[this] val few = rows.thinned(math.max(RowsToSearch, files * RowsPerFile))

  /** Columns to which the best layout gives no bit, at the level of pages, where it has the most to give. */
  lazy val unused: IndexedSeq[Int] = {
    val bound = WorkloadShapes.bound(queries, rows)(files * pagesPerFile)
    if (bound.unused.length < rows.columns) bound.unused else IndexedSeq.empty
  }

  /**
   * The best set of one column, of two, and so on. A column by which files are hardly cut is left out of a
   * set, and a set that is there already is not repeated.
   *
   * @param always
   *   this many columns are tried in any case
   * @param most
   *   more columns are tried up to this number, as long as each clearly pays
   */
  def sets(always: Int, most: Int): FoundSets = {
    val chosen = grow(IndexedSeq.empty, Double.MaxValue, always, most)
    val sets = chosen.indices.foldLeft(IndexedSeq.empty[ColumnSet]) { (found, i) =>
      val next = useful(chosen.take(i + 1), found.lastOption)
      if (found.exists(_.columns.toSet == next.columns.toSet)) found else found :+ next
    }
    FoundSets(sets, chosen.filterNot(c => sets.exists(_.columns.contains(c))))
  }

  /**
   * The layout by these columns, without those that it hardly cuts if queries read as few files without them.
   */
  private def useful(columns: IndexedSeq[Int], before: Option[ColumnSet]): ColumnSet = {
    val all = fitted(columns, before)
    val (least, bits) = all.order.zip(all.bits).minBy(_._2)
    if (columns.length == 1 || bits >= NoBits) all
    else {
      val without = useful(columns.filter(_ != least), before)
      if (bits < NoBit || without.shares.ofFiles * NoDifference <= all.shares.ofFiles) without else all
    }
  }

  private def grow(chosen: IndexedSeq[Int], cost: Double, always: Int, most: Int): IndexedSeq[Int] = {
    val rest = (0 until rows.columns).filterNot(c => chosen.contains(c) || unused.contains(c))
    if (rest.isEmpty || chosen.length >= most) chosen
    else {
      val (next, nextCost) = rest.map(c => c -> quickCost(chosen :+ c)).minBy(_._2)
      if (chosen.length >= always && nextCost > cost * Clearly) chosen
      else grow(chosen :+ next, nextCost, always, most)
    }
  }

  /** The cost by one quick builder on part of the rows, which is good enough to compare columns. */
  private def quickCost(columns: IndexedSeq[Int]): Double = {
    val tree = SliceTree.build(few.only(columns), queries.only(columns), files)
    heldOut.read(columns, tree, SliceTree.inFile).cost
  }

  /** The layout that a run would choose among all builders; without a log, among those that never lose. */
  private def fitted(columns: IndexedSeq[Int], before: Option[ColumnSet]): ColumnSet = {
    val sample = rows.only(columns)
    val asked = if (logged) queries.only(columns) else RankQueries.none
    val chosen =
      AutoChoice.fit(sample, asked, files, pagesPerFile, CurveRegistry.Auto.builders(columns.length))
    val shares = heldOut.read(columns, chosen.tree, chosen.inFile)
    val (order, sortTree, sorted) = columns.map { first =>
      val by = first +: columns.filter(_ != first)
      val tree = Lexical.build(rows.only(by), files)
      (by, tree, heldOut.read(by, tree, Lexical.inFile))
    }.minBy(_._3.cost)
    // one column alone is a sort by it
    val isSort = columns.length == 1 || sorted.cost <= shares.cost
    val best = if (isSort) sorted else shares
    val bits =
      if (isSort) heldOut.bits(order, sortTree, Lexical.inFile)
      else heldOut.bits(columns, chosen.tree, chosen.inFile)
    val last = columns.last
    ColumnSet(
      columns,
      if (isSort) CurveRegistry.Sort.name else chosen.name,
      if (isSort) order else columns,
      bits,
      best,
      sorted,
      before.fold(0.0)(b => best.ofFilesWithout(last) - b.shares.ofFilesWithout(last)))
  }
}

object ColumnSearch {

  /** A column beyond those that are tried in any case must lower the cost to this part. */
  private val Clearly = 0.97

  /**
   * A column by which files are hardly cut, such as a rare flag, must make queries read this much less of
   * them.
   */
  private val NoBits = 0.05

  /** Files are not cut at all. */
  private val NoBit = 0.005
  private val NoDifference = 0.995

  private val RowsToSearch = 8000
  private val RowsPerFile = 32
}

/**
 * @param withoutBits
 *   columns that are in no set, since files would not be cut by them: pages at most
 */
final case class FoundSets(sets: IndexedSeq[ColumnSet], withoutBits: IndexedSeq[Int])

/**
 * Some columns and what clustering by them would give.
 *
 * @param columns
 *   by number, the most useful first; the last one is the one that a smaller set did not have
 * @param layout
 *   the builder that was chosen; that of the plain sort if it reads no more
 * @param order
 *   the columns in the order in which a statement names them
 * @param bits
 *   per column of that order, how often its values are halved on the way to a file
 * @param shares
 *   what held-out queries read
 * @param sorted
 *   the same of the best plain sort by these columns
 * @param lossByLast
 *   how much more of the files the queries without a filter on the last column read than without that column
 */
final case class ColumnSet(
    columns: IndexedSeq[Int],
    layout: String,
    order: IndexedSeq[Int],
    bits: IndexedSeq[Double],
    shares: QueryShares,
    sorted: QueryShares,
    lossByLast: Double) {

  /** Whether a plain sort reads no more. One column alone is a sort by it. */
  def isSort: Boolean = layout == CurveRegistry.Sort.name
}

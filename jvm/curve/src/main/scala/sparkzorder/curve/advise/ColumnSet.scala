package sparkzorder.curve.advise

import sparkzorder.curve.build.QueryShares

/**
 * Some columns and what clustering by them would give.
 *
 * @param columns
 *   by number, the most useful first; the last one is the one that a smaller set did not have
 * @param layout
 *   the builder that was chosen
 * @param bits
 *   per column, how often its values are halved on the way to a file
 * @param shares
 *   what held-out queries read
 * @param sorted
 *   the same of the best plain sort by these columns
 * @param sortedBy
 *   the columns in the order of this sort
 * @param lossByLast
 *   how much more of the files the queries without a filter on the last column read than without that column
 */
final case class ColumnSet(
    columns: IndexedSeq[Int],
    layout: String,
    bits: IndexedSeq[Double],
    shares: QueryShares,
    sorted: QueryShares,
    sortedBy: IndexedSeq[Int],
    lossByLast: Double) {

  /** Whether a plain sort reads no more. One column alone is a sort by it. */
  def isSort: Boolean = columns.length == 1 || sorted.cost <= shares.cost
}

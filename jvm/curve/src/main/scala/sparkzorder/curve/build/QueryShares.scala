package sparkzorder.curve.build

import sparkzorder.curve.cost.{RankQueries, ReadCost}

/**
 * Share of the rows that each of some queries reads, 0 .. 1.
 *
 * @param files
 *   by query, at the level of files
 * @param pages
 *   by query, at the level of pages
 */
final class QueryShares(files: Array[Double], pages: Array[Double], queries: RankQueries) {

  /** Mean over the queries by their weights. */
  def cost: Double = ReadCost.of(meanOf(files, _ => true), meanOf(pages, _ => true))

  /** Mean share of the files. */
  def ofFiles: Double = meanOf(files, _ => true)

  /** Mean share of the pages. */
  def ofPages: Double = meanOf(pages, _ => true)

  /** Mean share of the files over the queries that ask nothing of this column; 0.0 if all do. */
  def ofFilesWithout(column: Int): Double = meanOf(files, !queries.asks(_, column))

  private def meanOf(each: Array[Double], counts: Int => Boolean): Double = {
    val chosen = each.indices.filter(counts)
    val weight = chosen.map(queries.weights(_)).sum
    if (weight <= 0.0) 0.0 else chosen.map(q => each(q) * queries.weights(q)).sum / weight
  }
}

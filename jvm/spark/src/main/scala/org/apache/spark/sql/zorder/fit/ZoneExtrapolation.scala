package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.{Block, Word, Zone}
import sparkzorder.curve.cost.SortedWords

/**
 * Estimates the bounds of all rows of a block from its sampled rows. The sampled bounds fall short at each end by the
 * mean distance between two sampled values. Distances are counted in sampled values of the whole table, so the
 * distribution does not matter, and a block with one value keeps it.
 *
 * @param values
 *   per column
 * @param missing
 *   share of the rows that are not sampled
 */
final private[fit] class ZoneExtrapolation(values: IndexedSeq[SortedWords], missing: Double) {

  /** @param file the zones of the whole file, which limit those of its blocks */
  def widened(block: Block, file: IndexedSeq[Zone]): Block =
    if (missing <= 0.0 || block.rows < 2) block
    else block.copy(zones = block.zones.indices.map(c =>
      (block.zones(c), file(c)) match {
        case (Zone.Between(min, max), Zone.Between(least, most)) =>
          widened(values(c), min, max, block.rows) match {
            case (a, b) => Zone.Between(if (a < least) least else a, if (b > most) most else b)
          }
        case (zone, _) => zone
      }))

  private def widened(sorted: SortedWords, min: Word, max: Word, rows: Long): (Word, Word) = {
    val low = sorted.countBetween(sorted(0), min) - 1
    val high = sorted.size - sorted.countBetween(max, sorted(sorted.size - 1))
    val step = math.round((high - low) * missing / (rows - 1)).toInt
    if (step <= 0) (min, max)
    else (sorted(math.max(0, low - step)), sorted(math.min(sorted.size - 1, high + step)))
  }
}

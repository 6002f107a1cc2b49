package org.apache.spark.sql.zorder.fit

import sparkzorder.curve.{Block, Word, Zone}
import sparkzorder.curve.cost.SortedWords

/**
 * The bounds that all rows of a block have, told from the sampled ones: these fall short of either end by the
 * mean distance between two of them. Distances are counted in the sampled values of the whole table, so any
 * distribution will do, and one value stays one value.
 *
 * @param values
 *   per column
 * @param missing
 *   share of the rows that are not sampled
 */
final private[fit] class Unsampled(values: IndexedSeq[SortedWords], missing: Double) {

  /** @param file the file's own zones, which no block of it reaches beyond */
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

package org.apache.spark.sql.zorder.audit.measure

import sparkzorder.curve.Zone

/**
 * The zones of one column of some blocks in ranks: the places of their bounds among the scale's bounds. What a zone
 * means is in docs/spec.md, section 8.
 *
 * @param low
 *   rank of each block's lower bound; -1 for an unknown zone and for one of only NULL
 */
final private[audit] class RankedColumn(
    val scale: RankScale,
    val low: Array[Int],
    val high: Array[Int],
    private val unknown: java.util.BitSet) {

  def blocks: Int = low.length

  /** The values of the block are known to lie between its bounds. */
  def isKnown(block: Int): Boolean = low(block) >= 0

  def isUnknown(block: Int): Boolean = unknown.get(block)

  def isOnlyNull(block: Int): Boolean = !isKnown(block) && !isUnknown(block)

  /** One value, or none. */
  def isConstant(block: Int): Boolean = !isUnknown(block) && low(block) == high(block)

  /** The side of the block's box, in positions: everything if unknown. */
  def boxLow(block: Int): Int = math.max(0, 2 * low(block))

  def boxHigh(block: Int): Int = if (isKnown(block)) 2 * high(block) else math.max(0, scale.positions - 1)

  def middle(block: Int): Int = scale.middle(boxLow(block), boxHigh(block))
}

private[audit] object RankedColumn {

  /** The zones in the ranks of a scale that has all their bounds. */
  def of(zones: IndexedSeq[Zone], scale: RankScale): RankedColumn = {
    val low = Array.fill(zones.length)(-1)
    val high = Array.fill(zones.length)(-1)
    val unknown = new java.util.BitSet(zones.length)
    var i = 0
    while (i < zones.length) {
      zones(i) match {
        case Zone.Unknown => unknown.set(i)
        case Zone.OnlyNulls =>
        case Zone.Between(min, max) =>
          low(i) = scale.rank(min)
          high(i) = if (min == max) low(i) else scale.rank(max)
      }
      i += 1
    }
    new RankedColumn(scale, low, high, unknown)
  }

  /** Of whole numbers or byte strings, with ranks among their own bounds. */
  def of(zones: IndexedSeq[Zone]): RankedColumn = of(zones, RankScale.of(zones, Spacing.Whole))
}

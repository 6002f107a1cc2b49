package org.apache.spark.sql.zorder.audit.measure

/**
 * Sums over intervals of places, added up without subtracting: a block of one value weighs 10^12 times as much per value
 * as one of many, and what is left after it is taken away again would be noise. A tree of intervals, O(log n) each.
 */
final private[measure] class Densities(places: Int) {
  private val leaves = math.max(1, Integer.highestOneBit(math.max(1, places - 1)) << 1)
  private val sums = new Array[Double](2 * leaves)

  /** Both ends included. */
  def add(from: Int, to: Int, amount: Double): Unit = {
    var low = from + leaves
    var high = to + leaves + 1
    while (low < high) {
      if ((low & 1) == 1) {
        sums(low) += amount
        low += 1
      }
      if ((high & 1) == 1) {
        high -= 1
        sums(high) += amount
      }
      low >>= 1
      high >>= 1
    }
  }

  /** What was added to each place. */
  def all: Array[Double] = {
    val found = sums.clone()
    (2 until found.length).foreach(i => found(i) += found(i >> 1))
    java.util.Arrays.copyOfRange(found, leaves, leaves + places)
  }
}

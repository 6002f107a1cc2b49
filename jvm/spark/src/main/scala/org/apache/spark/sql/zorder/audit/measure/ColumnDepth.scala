package org.apache.spark.sql.zorder.audit.measure

/** Depth in one dimension, exact, in O(n log n): a sweep over the bounds and a table of greatest covers. */
private[audit] object ColumnDepth {

  def of(column: RankedColumn): Depths = {
    val n = column.blocks
    val known = (0 until n).count(column.isKnown)
    val unknown = (0 until n).count(column.isUnknown)
    val (begun, ended) = cumulated(column)
    val cover = new RangeMaximum(Array.tabulate(column.scale.size)(r => begun(r + 1) - ended(r)))
    val everywhere = if (known == 0) 0 else cover.of(0, column.scale.size - 1)
    val depths = new Array[Int](n)
    var overlaps = 0.0
    var constant = 0L
    var b = 0
    while (b < n) {
      if (column.isKnown(b)) {
        depths(b) = unknown + cover.of(column.low(b), column.high(b))
        overlaps += unknown + begun(column.high(b) + 1) - ended(column.low(b)) - 1
      } else if (column.isUnknown(b)) {
        depths(b) = unknown + everywhere
        overlaps += unknown - 1 + known
      } else depths(b) = 1
      if (column.isConstant(b)) constant += 1
      b += 1
    }
    Depths.of(constant, overlaps, depths, _ => 1L, 0.0)
  }

  /** How many known blocks begin, and how many end, below each rank. */
  private def cumulated(column: RankedColumn): (Array[Int], Array[Int]) = {
    val begun = new Array[Int](column.scale.size + 1)
    val ended = new Array[Int](column.scale.size + 1)
    var b = 0
    while (b < column.blocks) {
      if (column.isKnown(b)) {
        begun(column.low(b) + 1) += 1
        ended(column.high(b) + 1) += 1
      }
      b += 1
    }
    var r = 1
    while (r < begun.length) {
      begun(r) += begun(r - 1)
      ended(r) += ended(r - 1)
      r += 1
    }
    (begun, ended)
  }
}

/** The greatest of any run of numbers, in constant time after O(n log n): maxima of all runs of 2^k numbers. */
final private[measure] class RangeMaximum(values: Array[Int]) {
  private val runs: Array[Array[Int]] = {
    val levels = if (values.isEmpty) 1 else 32 - Integer.numberOfLeadingZeros(values.length)
    val all = new Array[Array[Int]](levels)
    all(0) = values
    var k = 1
    while (k < levels) {
      val half = 1 << (k - 1)
      val below = all(k - 1)
      all(k) = Array.tabulate(values.length - (1 << k) + 1)(i => math.max(below(i), below(i + half)))
      k += 1
    }
    all
  }

  /** Both ends included. */
  def of(from: Int, to: Int): Int = {
    val k = 31 - Integer.numberOfLeadingZeros(to - from + 1)
    math.max(runs(k)(from), runs(k)(to - (1 << k) + 1))
  }
}

package org.apache.spark.sql.zorder.stats.measure

/**
 * What look-ups and ranges of one column read of some blocks.
 *
 * @param rows
 *   of each block
 * @param values
 *   the blocks whose rows tell where values are, in the same ranks: these, or the files if these are a sample
 */
final private[zorder] class ColumnReads(
    column: RankedColumn,
    rows: Array[Long],
    values: RankedColumn,
    valueRows: Array[Long]) {

  /** Rows of all blocks. */
  val total: Double = rows.iterator.map(_.toDouble).sum

  private val unknownRows: Double = rows.indices.iterator.filter(column.isUnknown).map(rows(_).toDouble).sum

  /** Weights of the positions before each one, values being spread evenly between the bounds of their block. */
  private val before: Array[Double] = {
    val widths = column.scale.widths
    val density = new Densities(widths.length)
    valueRows.indices.foreach { b =>
      if (values.isKnown(b)) {
        val (low, high) = (values.low(b), values.high(b))
        density.add(2 * low, 2 * high, valueRows(b).toDouble / column.scale.width(low, high))
      }
    }
    val found = density.all
    widths.indices.scanLeft(0.0)((sum, p) => sum + widths(p) * found(p)).toArray
  }
  private val all = before.last

  /** The part of the values for which the block is read. */
  def reach(block: Int): Double =
    if (column.isUnknown(block)) 1.0
    else if (!column.isKnown(block) || all <= 0.0) 0.0
    else (before(2 * column.high(block) + 1) - before(2 * column.low(block))) / all

  /** None without rows. */
  def lookUpShare: Option[Double] =
    if (total == 0.0) None
    else if (all <= 0.0) Some(unknownRows / total)
    else Some(rows.indices.iterator.map(b => rows(b).toDouble * reach(b)).sum / total)

  /** None without rows. */
  def rangeShare: Option[Double] =
    if (total == 0.0 || all <= 0.0) lookUpShare
    else {
      val begun = new Array[Double](before.length)
      val ended = new Array[Double](before.length)
      rows.indices.filter(column.isKnown).foreach { b =>
        begun(2 * column.low(b) + 1) += rows(b).toDouble
        ended(2 * column.high(b) + 1) += rows(b).toDouble
      }
      var p = 1
      while (p < begun.length) {
        begun(p) += begun(p - 1)
        ended(p) += ended(p - 1)
        p += 1
      }
      val slack = 1e-9 * all
      val parts = ColumnReads.Ranges
      val shares = (0 until parts).iterator.map { i =>
        val from = firstPlace(_ > i.toDouble / parts * all + slack)
        val to = firstPlace(_ >= (i + 1.0) / parts * all - slack)
        (unknownRows + begun(to + 1) - ended(from)) / total
      }
      Some(shares.sum / parts)
    }

  /** The first position at which the cumulated weight, its own included, is as asked; the last one if none is. */
  private def firstPlace(holds: Double => Boolean): Int = {
    var low = 0
    var high = before.length - 2
    while (low < high) {
      val middle = (low + high) >>> 1
      if (holds(before(middle + 1))) high = middle else low = middle + 1
    }
    low
  }

  /** Per rank, the part of the rows that are in blocks of that value alone. */
  def masses: Array[Double] = {
    val found = new Array[Double](column.scale.size)
    rows.indices.foreach(b =>
      if (column.isKnown(b) && column.isConstant(b)) found(column.low(b)) += rows(b).toDouble)
    if (total > 0.0) found.indices.foreach(r => found(r) /= total)
    found
  }
}

private[zorder] object ColumnReads {

  /** Ranges of so many equal parts of the rows. */
  private val Ranges = 100
}

/**
 * Sums over intervals of places, added up without subtracting: a block of one value weighs 10^12 times as much per value
 * as one of many, and what is left after it is taken away again would be noise. A tree of intervals, O(log n) each.
 */
final private class Densities(places: Int) {
  private val leaves = math.max(1, Integer.highestOneBit(math.max(1, places - 1)) << 1)
  private val sums = new Array[Double](2 * leaves)

  /** Adds the amount to the places from `from` to `to`, both included. */
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

package org.apache.spark.sql.zorder.audit.measure

import sparkzorder.curve.Evenly

/**
 * Depth in several dimensions at the middles of some boxes, evenly taken: the greatest depth inside a box would take
 * time that grows with the power of the number of columns.
 *
 * @param columns
 *   of the same blocks
 */
final private[audit] class MeasuredBoxes(columns: IndexedSeq[RankedColumn]) {
  private val n = columns.headOption.fold(0)(_.blocks)
  private val lows = columns.map(c => Array.tabulate(n)(c.boxLow)).toArray
  private val highs = columns.map(c => Array.tabulate(n)(c.boxHigh)).toArray
  private val empty = Array.tabulate(n)(b => columns.exists(_.isOnlyNull(b)))

  /** How many blocks are measured. */
  val size: Int = math.min(n, MeasuredBoxes.Most)

  def block(i: Int): Int = Evenly.place(i, size, n)

  /** Number of blocks that a measured one stands for. */
  def weight(i: Int): Long = (block(i + 1) - block(i)).toLong

  /** The middle of a measured box, as a position of the column. */
  def middle(i: Int, column: Int): Int = columns(column).middle(block(i))

  def depths: Depths = {
    val found = new Array[Int](size)
    val met = new Array[Int](size)
    // each box is compared with all others, by all cores of the driver
    java.util.stream.IntStream.range(0, size).parallel().forEach(i => count(i, found, met))
    val overlaps = (0 until size).iterator.map(i => weight(i).toDouble * met(i)).sum
    val constant = (0 until n).count(b => columns.forall(_.isConstant(b)))
    Depths.of(constant.toLong, overlaps, found, weight, error(found))
  }

  /** How many boxes hold the middle of a measured one, and how many others meet it. */
  private def count(i: Int, found: Array[Int], met: Array[Int]): Unit =
    if (empty(block(i))) found(i) = 1
    else {
      val d = lows.length
      val point = Array.tabulate(d)(middle(i, _))
      val low = lows.map(_(block(i)))
      val high = highs.map(_(block(i)))
      var holding = 0
      var meeting = 0
      var b = 0
      while (b < n) {
        var c = 0
        while (c < d && lows(c)(b) <= high(c) && highs(c)(b) >= low(c)) c += 1
        if (c == d && !empty(b)) {
          meeting += 1
          c = 0
          while (c < d && lows(c)(b) <= point(c) && highs(c)(b) >= point(c)) c += 1
          if (c == d) holding += 1
        }
        b += 1
      }
      found(i) = holding
      met(i) = meeting - 1
    }

  private def error(depths: Array[Int]): Double =
    if (size == n) 0.0
    else {
      val mean = depths.iterator.map(_.toDouble).sum / size
      val squares = depths.iterator.map(d => (d - mean) * (d - mean)).sum
      math.sqrt(squares / (size - 1) / size * (1.0 - size.toDouble / n))
    }
}

private[audit] object MeasuredBoxes {

  /** The error of the average is below a thirtieth of the spread. */
  val Most = 1000
}

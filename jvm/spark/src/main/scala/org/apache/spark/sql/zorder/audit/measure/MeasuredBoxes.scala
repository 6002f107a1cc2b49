package org.apache.spark.sql.zorder.audit.measure

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

  def block(i: Int): Int = (i.toLong * n / size).toInt

  /** Number of blocks that a measured one stands for. */
  def weight(i: Int): Long = (i + 1L) * n / size - i.toLong * n / size

  /** The middle of a measured box, as a position of the column. */
  def middle(i: Int, column: Int): Int = columns(column).middle(block(i))

  def depths: Depths = {
    val found = new Array[Int](size)
    var overlaps = 0.0
    (0 until size).foreach { i =>
      if (empty(block(i))) found(i) = 1
      else {
        val point = columns.indices.map(middle(i, _)).toArray
        found(i) = meeting(point, point)
        val met = meeting(lows.map(_(block(i))), highs.map(_(block(i)))) - 1
        overlaps += weight(i).toDouble * met
      }
    }
    val constant = (0 until n).count(b => columns.forall(_.isConstant(b)))
    Depths.of(constant.toLong, overlaps, found, weight, error(found))
  }

  /** How many boxes meet this one. */
  private def meeting(low: Array[Int], high: Array[Int]): Int = {
    var found = 0
    var b = 0
    while (b < n) {
      if (!empty(b)) {
        var c = 0
        while (c < low.length && lows(c)(b) <= high(c) && highs(c)(b) >= low(c)) c += 1
        if (c == low.length) found += 1
      }
      b += 1
    }
    found
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

package org.apache.spark.sql.zorder.audit.measure

/**
 * What look-ups and ranges of one column read of some blocks.
 *
 * @param rows
 *   of each block
 * @param values
 *   the blocks whose rows tell where values are, in the same ranks: these, or the files if these are a sample
 */
final private[audit] class ColumnReads(
    column: RankedColumn,
    rows: Array[Long],
    values: RankedColumn,
    valueRows: Array[Long]) {
  private val at = column.scale.positions

  /** Rows of all blocks. */
  val total: Double = rows.iterator.map(_.toDouble).sum

  private val unknownRows: Double = rows.indices.iterator.filter(column.isUnknown).map(rows(_).toDouble).sum

  /** Weights of the positions before each one, values being spread evenly over the positions of their block. */
  private val before: Array[Double] = {
    val change = new Array[Double](column.scale.places + 1)
    valueRows.indices.foreach { b =>
      if (values.isKnown(b)) {
        val (from, to) = (at(values.low(b)), at(values.high(b)))
        val each = valueRows(b).toDouble / (to - from + 1)
        change(from) += each
        change(to + 1) -= each
      }
    }
    val sums = new Array[Double](change.length)
    var weight = 0.0
    var p = 0
    while (p < change.length - 1) {
      weight += change(p)
      // what is left of sums and differences may be a little below nothing
      sums(p + 1) = sums(p) + math.max(0.0, weight)
      p += 1
    }
    sums
  }
  private val all = before.last

  /** The part of the values for which the block is read. */
  def reach(block: Int): Double =
    if (column.isUnknown(block)) 1.0
    else if (!column.isKnown(block) || all <= 0.0) 0.0
    else (before(at(column.high(block)) + 1) - before(at(column.low(block)))) / all

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
        begun(at(column.low(b)) + 1) += rows(b).toDouble
        ended(at(column.high(b)) + 1) += rows(b).toDouble
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

private[audit] object ColumnReads {

  /** Ranges of so many equal parts of the rows. */
  private val Ranges = 100
}

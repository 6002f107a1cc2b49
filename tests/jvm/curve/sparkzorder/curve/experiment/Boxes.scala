package sparkzorder.curve.experiment

import sparkzorder.curve.build.Placed

/** Least and greatest value of each column in each block, and its rows; told from the values, not ranks. */
final class Boxes(val rows: Array[Int], low: Array[Array[Long]], high: Array[Array[Long]]) {

  /** Mean share of the rows that the queries read. */
  def share(asked: Array[Asked]): Double = asked.map(share(_)).sum / asked.length

  private def share(q: Asked): Double = {
    var read = 0L
    var b = 0
    while (b < rows.length) {
      var hit = true
      var c = 0
      while (hit && c < low.length) {
        hit = low(c)(b) <= q.high(c) && high(c)(b) >= q.low(c)
        c += 1
      }
      if (hit) read += rows(b)
      b += 1
    }
    read.toDouble / rows.map(_.toLong).sum
  }

  def mostOverMean: Double = rows.max.toDouble * rows.length / rows.map(_.toLong).sum
}

object Boxes {

  /** Rows in the order of their keys, cut at `starts` (with the end). */
  def of(data: DataSet, order: Array[Int], starts: Array[Int]): Boxes = {
    val n = starts.length - 1
    val low = Array.fill(data.columns, n)(Long.MaxValue)
    val high = Array.fill(data.columns, n)(Long.MinValue)
    for (c <- 0 until data.columns) {
      val values = data.values(c)
      var b = 0
      while (b < n) {
        var i = starts(b)
        while (i < starts(b + 1)) {
          val v = values(order(i))
          if (v < low(c)(b)) low(c)(b) = v
          if (v > high(c)(b)) high(c)(b) = v
          i += 1
        }
        b += 1
      }
    }
    new Boxes(Array.tabulate(n)(b => starts(b + 1) - starts(b)), low, high)
  }

  /** A sort by these keys, cut into so many files of equal rows. */
  def equalCounts(data: DataSet, keys: Array[Long], files: Int): Boxes =
    of(
      data,
      Placed.argSort(keys),
      Array.tabulate(files + 1)(f => math.round(f.toDouble * data.rows / files).toInt))
}

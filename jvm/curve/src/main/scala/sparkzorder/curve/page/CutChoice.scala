package sparkzorder.curve.page

import sparkzorder.curve.layout.PageSides

/**
 * Chooses the column by which the rows of a node are parted: the one that makes the sides of the two parts shortest.
 * It looks at some of the rows, taken evenly along the present order, which follows a curve through all columns.
 */
final private[page] class CutChoice(ranks: Array[Array[Int]], sides: PageSides) {
  private[this] val columns = sides.columns
  private[this] val rows = new Array[Int](CutChoice.MostRows)
  private[this] val sorted = new Array[Long](CutChoice.MostRows)

  /**
   * The column to cut by.
   *
   * @param order
   *   row numbers; those at `[from, until)` are the node's
   * @param left
   *   rows that the cut puts on the left
   */
  def column(order: Array[Int], from: Int, until: Int, left: Int): Int = {
    val n = until - from
    val some = math.min(n, math.max(CutChoice.LeastRows, math.min(CutChoice.MostRows, n / CutChoice.Part)))
    var i = 0
    while (i < some) {
      rows(i) = order(from + ((2L * i + 1) * n / (2L * some)).toInt)
      i += 1
    }
    val at = math.max(1, math.min(some - 1, math.round(some.toDouble * left / n).toInt))
    var best = 0
    var least = Double.PositiveInfinity
    var c = 0
    while (c < columns) {
      val length = ifCutBy(c, some, at)
      if (length < least) {
        least = length
        best = c
      }
      c += 1
    }
    best
  }

  /** The sides of both parts, each as often as it has rows. */
  private def ifCutBy(column: Int, some: Int, at: Int): Double = {
    var i = 0
    while (i < some) {
      sorted(i) = (ranks(column)(rows(i)).toLong << 32) | rows(i)
      i += 1
    }
    java.util.Arrays.sort(sorted, 0, some)
    at * sidesOf(0, at) + (some - at) * sidesOf(at, some)
  }

  private def sidesOf(from: Int, until: Int): Double = {
    var sum = 0.0
    var c = 0
    while (c < columns) {
      var low = Int.MaxValue
      var high = -1
      var i = from
      while (i < until) {
        val rank = ranks(c)(sorted(i).toInt)
        if (rank > 0) {
          low = math.min(low, rank)
          high = math.max(high, rank)
        }
        i += 1
      }
      sum += sides(c, low, high)
      c += 1
    }
    sum
  }
}

private object CutChoice {

  /** Rows that are looked at: one of `Part`, but between these. */
  val MostRows = 256
  val LeastRows = 64
  val Part = 16
}

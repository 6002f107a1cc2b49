package org.apache.spark.sql.zorder.run.plan

/**
 * Joins consecutive file numbers to files whose rows lie in small boxes: halves the numbers where a layout of evenly
 * filled cells is halved itself, as long as no side gets much more than half of the rows. A cut one number further
 * would often double the box of a file.
 */
private[run] object SpanningCuts {

  /** The lesser side of a cut has at least this share of the rows, if any cut has it. */
  private val Least = 0.4

  /**
   * @param rows
   *   by file number, not all zero
   * @param files
   *   wanted; fewer if there are fewer numbers with rows
   * @return
   *   the file of each number: rising from 0 without gaps, each with rows
   */
  def apply(rows: IndexedSeq[Long], files: Int): Array[Int] = {
    val before = rows.scanLeft(0L)(_ + _)
    val depth = depths(rows.length)
    def held(from: Int, until: Int): Long = before(until) - before(from)

    def cut(from: Int, until: Int): Option[Int] = {
      val possible = (from + 1 until until).filter(c => held(from, c) > 0 && held(c, until) > 0)
      val lesser = possible.map(c => c -> math.min(held(from, c), held(c, until))).toMap
      val even = possible.filter(lesser(_) >= Least * held(from, until))
      if (even.nonEmpty) Some(even.minBy(c => (depth(c), -lesser(c))))
      else if (possible.nonEmpty) Some(possible.maxBy(lesser))
      else None
    }

    def starts(from: Int, until: Int, parts: Int): Seq[Int] =
      if (parts <= 1) Seq(from)
      else
        cut(from, until).fold(Seq(from)) { c =>
          starts(from, c, parts - parts / 2) ++ starts(c, until, parts / 2)
        }

    val from = starts(0, rows.length, files)
    rows.indices.map(i => from.lastIndexWhere(_ <= i)).toArray
  }

  /** How often a range of numbers is halved until a number begins a part. */
  private def depths(numbers: Int): IndexedSeq[Int] = {
    val depth = Array.fill(numbers)(0)
    def halve(from: Int, until: Int, level: Int): Unit = if (until - from > 1) {
      val middle = (from + until) / 2
      depth(middle) = level
      halve(from, middle, level + 1)
      halve(middle, until, level + 1)
    }
    halve(0, numbers, 1)
    depth.toIndexedSeq
  }
}

package org.apache.spark.sql.zorder.fit

/** The order of rows by their keys, without an object a row. */
private[fit] object KeyOrder {

  /** Row numbers by ascending key; rows of the same key in their own order. */
  def of(keys: Array[Long]): Array[Int] = {
    val sorted = keys.clone()
    java.util.Arrays.sort(sorted)
    // by the first place of a key: how many of its rows have theirs
    val taken = new Array[Int](keys.length)
    val order = new Array[Int](keys.length)
    var row = 0
    while (row < keys.length) {
      val place = firstOf(sorted, keys(row))
      order(place + taken(place)) = row
      taken(place) += 1
      row += 1
    }
    order
  }

  private def firstOf(sorted: Array[Long], key: Long): Int = {
    var from = 0
    var until = sorted.length
    while (from < until) {
      val middle = (from + until) >>> 1
      if (sorted(middle) < key) from = middle + 1 else until = middle
    }
    from
  }
}

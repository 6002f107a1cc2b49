package org.apache.spark.sql.zorder.fit

/** Sorts rows by their keys without an object for each row. */
private[fit] object KeyOrder {

  /** Row numbers by ascending key; rows of the same key in their own order. */
  def of(keys: Array[Long]): Array[Int] = {
    val sorted = keys.clone()
    java.util.Arrays.sort(sorted)
    // by the first position of a key: how many of its rows are placed already
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

package sparkzorder.curve.cost

/**
 * A conjunction in ranks: interval k of condition i goes from `lows(i)(k)` to `highs(i)(k)`, both included.
 *
 * @param columns
 *   the columns that are asked about
 * @param orNull
 *   whether NULL meets condition i
 */
final class RankBox(
    val columns: Array[Int],
    val lows: Array[Array[Int]],
    val highs: Array[Array[Int]],
    val orNull: Array[Boolean]) {

  /** Whether a block with these extents of ranks may hold a row of the box. */
  def touches(low: Array[Int], high: Array[Int], holdsNull: Array[Boolean]): Boolean = {
    var i = 0
    while (i < columns.length) {
      if (!meets(i, low(columns(i)), high(columns(i)), holdsNull(columns(i)))) return false
      i += 1
    }
    true
  }

  /** Whether a row of these ranks is in the box; 0 is NULL. */
  def holds(ranks: Array[Array[Int]], row: Int): Boolean = {
    var i = 0
    while (i < columns.length) {
      val r = ranks(columns(i))(row)
      if (!(if (r == 0) orNull(i) else meets(i, r, r, holdsNull = false))) return false
      i += 1
    }
    true
  }

  private def meets(i: Int, low: Int, high: Int, holdsNull: Boolean): Boolean = {
    if (holdsNull && orNull(i)) return true
    val from = lows(i)
    val until = highs(i)
    var k = 0
    while (k < from.length) {
      if (from(k) <= high && until(k) >= low) return true
      k += 1
    }
    false
  }
}

package sparkzorder.curve

/**
 * The order of raw keys without the keys: the column whose most significant difference lies highest
 * decides, the earlier one on a tie (Chan's comparison). Nothing is allocated.
 */
object MsdOrder {

  /** -1, 0 or 1: the comparison of `Interleave.key(shape, a)` and `Interleave.key(shape, b)` as bytes. */
  def compare(shape: KeyShape, a: Array[Long], b: Array[Long]): Int = compare(shape.bounds, a, b)

  /** Compares columns of several words: those of column `i` are from `bounds(i)` until `bounds(i + 1)`. */
  def compare(bounds: Array[Int], a: Array[Long], b: Array[Long]): Int = {
    val columns = bounds.length - 1
    var highest = Int.MaxValue
    var sign = 0
    var i = 0
    while (i < columns) {
      val begin = bounds(i)
      val end = bounds(i + 1)
      var j = begin
      while (j < end) {
        val x = a(j)
        val y = b(j)
        if (x != y) {
          val level = ((j - begin) << 6) + java.lang.Long.numberOfLeadingZeros(x ^ y)
          if (level < highest) {
            highest = level
            sign = if (x + Long.MinValue < y + Long.MinValue) -1 else 1
          }
          j = end
        }
        j += 1
      }
      i += 1
    }
    sign
  }
}

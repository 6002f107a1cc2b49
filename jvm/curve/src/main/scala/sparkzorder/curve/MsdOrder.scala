package sparkzorder.curve

/**
 * The order of raw keys without the keys: the column whose most significant difference lies highest
 * decides, the earlier one on a tie (Chan's comparison). Nothing is allocated.
 */
object MsdOrder {

  /** -1, 0 or 1: the comparison of `Interleave.key(shape, a)` and `Interleave.key(shape, b)` as bytes. */
  def compare(shape: KeyShape, a: Array[Long], b: Array[Long]): Int = {
    var highest = Int.MaxValue
    var sign = 0
    var i = 0
    while (i < shape.columns) {
      val begin = shape.begin(i)
      val end = shape.end(i)
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

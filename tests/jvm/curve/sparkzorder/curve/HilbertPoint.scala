package sparkzorder.curve

/** The way back from a Hilbert index to its point, level by level. */
object HilbertPoint {

  /** Fills `out(0)` .. `out(d - 1)` with the coordinates, of `bits` bits each, of the point at `index`. */
  def of(index: Long, d: Int, bits: Int, out: Array[Int]): Unit = {
    val mask = -1L >>> (64 - d)
    var entry = 0L
    var axis = HilbertRule.startAxis(d)
    java.util.Arrays.fill(out, 0)
    for (level <- bits - 1 to 0 by -1) {
      val digit = (index >>> (level * d)) & mask
      val cell = cellOf(digit, entry, axis, d)
      entry = HilbertRule.nextEntry(digit, entry, axis, d)
      axis = HilbertRule.nextAxis(digit, axis, d)
      for (i <- 0 until d) out(i) = (out(i) << 1) | ((cell >>> (d - 1 - i)) & 1).toInt
    }
  }

  /** The cell at position `digit`: the inverse of [[HilbertRule.digit]]. */
  private def cellOf(digit: Long, entry: Long, axis: Int, d: Int): Long = {
    val gray = digit ^ (digit >>> 1)
    val by = (axis + 1) % d
    // no turn at all: a shift by 64 would be none
    val turned = if (by == 0) gray else (gray << by) | (gray >>> (d - by))
    (turned & (-1L >>> (64 - d))) ^ entry
  }
}

package sparkzorder.curve

/**
 * One level of the Hilbert curve in `d` dimensions (Butz's curve in Hamilton's formulation). A cell of the
 * level is a `d`-bit number, first coordinate in the top bit. A state is the corner where the curve
 * enters (`entry`) and the axis along which it leaves (`axis`): cell -> digit of the index -> next state.
 *
 * The first level is the Gray code itself: it enters at 0...0 and leaves along the first coordinate, so
 * in two dimensions (0,0), (0,1), (1,1), (1,0). In two dimensions the whole curve equals
 * Skilling's; from three on there is no orientation in which the two agree below the first level, because
 * Skilling permutes the axes of a sub-cube by exchanges and Butz by rotations. Both are Hilbert curves.
 */
private[curve] object HilbertRule {

  /** The axis with which a curve begins; the entry is 0. */
  def startAxis(d: Int): Int = d - 1

  /** Position on the curve of `cell`, for a curve that enters at `entry` and leaves along `axis`. */
  def digit(cell: Long, entry: Long, axis: Int, d: Int): Long =
    grayIndex(rotateRight(cell ^ entry, shift(axis, d), d))

  def nextEntry(digit: Long, entry: Long, axis: Int, d: Int): Long =
    if (digit == 0) entry
    else entry ^ rotateLeft(gray((digit - 1) & ~1L), shift(axis, d), d)

  def nextAxis(digit: Long, axis: Int, d: Int): Int = {
    // an odd digit turns by its trailing ones, an even one by those of its predecessor; d of them are none
    val turn = if (digit == 0) 0 else trailingOnes(if ((digit & 1) == 0) digit - 1 else digit)
    val next = axis + 1 + (if (turn >= d) turn - d else turn)
    if (next >= d) next % d else next
  }

  private def shift(axis: Int, d: Int): Int = if (axis + 1 == d) 0 else axis + 1

  private def trailingOnes(x: Long): Int = java.lang.Long.numberOfTrailingZeros(~x)

  private def gray(x: Long): Long = x ^ (x >>> 1)

  private def grayIndex(x: Long): Long = {
    var v = x ^ (x >>> 1)
    v ^= v >>> 2
    v ^= v >>> 4
    if (x >>> 8 == 0) v
    else {
      v ^= v >>> 8
      v ^= v >>> 16
      v ^ (v >>> 32)
    }
  }

  private def rotateLeft(x: Long, by: Int, d: Int): Long =
    if (by == 0) x else ((x << by) | (x >>> (d - by))) & (-1L >>> (64 - d))

  private def rotateRight(x: Long, by: Int, d: Int): Long =
    if (by == 0) x else ((x >>> by) | (x << (d - by))) & (-1L >>> (64 - d))
}

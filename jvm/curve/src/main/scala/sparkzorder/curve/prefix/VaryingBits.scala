package sparkzorder.curve.prefix

/**
 * Which bits differ among the rows seen so far. Fed row by row; nothing is allocated.
 *
 * @param words
 *   longs that hold the words of one row
 */
final class VaryingBits(words: Int) {
  private[this] val first = new Array[Long](words)
  private[this] val seen = new Array[Long](words)
  private[this] val constant = new Array[Long](words)
  private[this] var empty = true

  /** Sees a row; false, and nothing is seen, if it differs from the others in a bit said to be constant. */
  def add(row: Array[Long]): Boolean = {
    if (empty) {
      System.arraycopy(row, 0, first, 0, words)
      empty = false
    }
    var broken = 0L
    var i = 0
    while (i < words) {
      broken |= (row(i) ^ first(i)) & constant(i)
      i += 1
    }
    if (broken != 0L) false
    else {
      i = 0
      while (i < words) {
        seen(i) |= row(i) ^ first(i)
        i += 1
      }
      true
    }
  }

  /** From now on no row may differ in the bits that `prefix` leaves out. */
  def expect(prefix: BitPrefix): Unit = System.arraycopy(prefix.constant, 0, constant, 0, words)

  /** The bits that vary, and with each bit that `row` breaks the whole byte that it is in. */
  def widenedBy(row: Array[Long]): Array[Long] = Array.tabulate(words) { i =>
    seen(i) | VaryingBits.wholeBytes((row(i) ^ first(i)) & constant(i))
  }

  /** The bits that vary among the rows seen. */
  def varying: Array[Long] = seen.clone()
}

private object VaryingBits {

  /** All bits of each byte that has one. */
  private def wholeBytes(bits: Long): Long = {
    var out = 0L
    var byte = 0xffL
    while (byte != 0L) {
      if ((bits & byte) != 0L) out |= byte
      byte <<= 8
    }
    out
  }
}

package sparkzorder.curve.layout

/**
 * Sorts rows by their keys without an object for each row: digit by digit from the last one, leaving out
 * those in which all keys agree, as the keys of one file do in the first ones.
 */
object KeyOrder {
  // scalafix:off DisableSyntax
  // final: the compiler folds them into the loops
  final private val Bits = 8
  final private val Values = 1 << Bits
  // scalafix:on DisableSyntax
  private val Digits = 64 / Bits

  def of(keys: Array[Long]): Array[Int] = of(keys, keys.length)

  /**
   * Row numbers by ascending key; rows of the same key in their own order.
   *
   * @param keys
   *   of the rows; not negative
   * @param rows
   *   how many of the keys count
   */
  def of(keys: Array[Long], rows: Int): Array[Int] = {
    var order = Array.range(0, rows)
    var next = new Array[Int](rows)
    val counts = countsOf(keys, rows)
    var digit = 0
    while (digit < Digits) {
      if (differs(counts(digit), rows)) {
        place(keys, order, next, digit * Bits, starts(counts(digit)))
        val done = next
        next = order
        order = done
      }
      digit += 1
    }
    order
  }

  /** How many keys have each value of each digit. */
  private def countsOf(keys: Array[Long], rows: Int): Array[Array[Int]] = {
    val counts = Array.fill(Digits)(new Array[Int](Values))
    var i = 0
    while (i < rows) {
      var rest = keys(i)
      var digit = 0
      while (digit < Digits) {
        counts(digit)((rest & (Values - 1)).toInt) += 1
        rest >>>= Bits
        digit += 1
      }
      i += 1
    }
    counts
  }

  private def differs(counts: Array[Int], rows: Int): Boolean = !counts.contains(rows)

  /** Where the rows of each value begin. */
  private def starts(counts: Array[Int]): Array[Int] = counts.scanLeft(0)(_ + _)

  private def place(
      keys: Array[Long],
      from: Array[Int],
      to: Array[Int],
      shift: Int,
      starts: Array[Int]): Unit = {
    var i = 0
    while (i < from.length) {
      val row = from(i)
      val value = (keys(row) >>> shift).toInt & (Values - 1)
      to(starts(value)) = row
      starts(value) += 1
      i += 1
    }
  }
}

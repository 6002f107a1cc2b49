package sparkzorder.curve.layout

/**
 * What a column contributes to the order inside one cell: its rank less the low corner of the cell, made a coordinate
 * of some bits by one multiplication.
 *
 * @param low
 *   low corner of the cell
 * @param limit
 *   greatest distance from it
 * @param factor
 *   units of the coordinate per rank, times `2^shift`
 * @param bits
 *   bits of the coordinate
 */
final private[layout] case class CellColumn(
    column: Int,
    low: Int,
    limit: Int,
    factor: Int,
    shift: Int,
    bits: Int) {

  def copyTo(numbers: Array[Int], at: Int): Unit = {
    numbers(at) = column
    numbers(at + 1) = low
    numbers(at + 2) = limit
    numbers(at + 3) = factor
    numbers(at + 4) = shift
    numbers(at + 5) = bits
  }
}

private[layout] object CellColumn {

  /**
   * A column whose ranks in the cell fill coordinates of `filled` bits.
   *
   * @param bits
   *   bits of the coordinate, at least `filled`
   */
  def apply(column: Int, span: RankSpan, filled: Int, bits: Int): CellColumn = {
    val exact = (1L << 62) / span.width
    // 31 bits of it are enough, since a rank has 30
    val excess = 33 - java.lang.Long.numberOfLeadingZeros(exact)
    CellColumn(column, span.from, span.width - 1, (exact >>> excess).toInt, 62 - filled - excess, bits)
  }

  /** A column whose coordinate is its rank in the cell. */
  def unscaled(column: Int, span: RankSpan, bits: Int): CellColumn =
    CellColumn(column, span.from, span.width - 1, 1, 0, bits)
}

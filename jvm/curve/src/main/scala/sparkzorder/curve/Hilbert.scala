package sparkzorder.curve

/**
 * The Hilbert curve in any number of dimensions. Indexes that fit one long are here
 * (ranks inside a layout), the key over raw values in [[HilbertKey]]. Nothing is allocated.
 *
 * The curve is refined level by level from a fixed start: the first `d * k` bits of an index depend on the
 * first `k` bits of each coordinate only.
 */
object Hilbert {

  /**
   * Place on the curve of the point whose coordinates are the low `bits` bits of `coords(0)` and so on.
   *
   * @param d
   *   dimensions, at least 1
   * @param bits
   *   bits a coordinate, 1 to 32, with `d * bits <= 64`
   * @return
   *   0 to `2^(d * bits) - 1`, unsigned
   */
  def index(coords: Array[Int], d: Int, bits: Int): Long =
    if (d == 2) Hilbert2.index(coords(0), coords(1), bits)
    else if (d == 4) {
      val mask = -1 >>> (32 - bits)
      Hilbert4.index(coords(0) & mask, coords(1) & mask, coords(2) & mask, coords(3) & mask, bits)
    } else {
      val cells = Morton.interleave(coords, d, bits)
      if (d == 1) cells
      else if (d <= HilbertTables.MaxD) byTable(HilbertTables(d), cells, bits)
      else indexByRule(cells, d, bits)
    }

  private def byTable(tables: HilbertTables, in: Long, bits: Int): Long = {
    val table = tables.toIndex
    val step = tables.step
    val mask = tables.mask
    var state = tables.startOf(bits)
    var shift = (tables.stepsOf(bits) - 1) * step
    var out = 0L
    while (shift >= 0) {
      val entry = table(state | ((in >>> shift).toInt & mask)).toInt
      state = entry & ~mask
      out = (out << step) | (entry & mask)
      shift -= step
    }
    out
  }

  private def indexByRule(cells: Long, d: Int, bits: Int): Long = {
    val mask = -1L >>> (64 - d)
    var entry = 0L
    var axis = HilbertRule.startAxis(d)
    var out = 0L
    var level = bits - 1
    while (level >= 0) {
      val digit = HilbertRule.digit((cells >>> (level * d)) & mask, entry, axis, d)
      entry = HilbertRule.nextEntry(digit, entry, axis, d)
      axis = HilbertRule.nextAxis(digit, axis, d)
      out = (out << d) | digit
      level -= 1
    }
    out
  }
}

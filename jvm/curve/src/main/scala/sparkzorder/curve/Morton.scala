package sparkzorder.curve

/**
 * Morton (Z-order) codes that fit one long, for small unsigned coordinates such as ranks. The first
 * coordinate gives the more significant bit of each level. Nothing is allocated.
 */
object Morton {

  /** Two 32-bit words. */
  def morton2(a: Int, b: Int): Long = (Spread.by2(a) << 1) | Spread.by2(b)

  /** Three words of 21 bits; higher bits are ignored. */
  def morton3(a: Int, b: Int, c: Int): Long = (Spread.by3(a) << 2) | (Spread.by3(b) << 1) | Spread.by3(c)

  /** Four words of 16 bits; higher bits are ignored. */
  def morton4(a: Int, b: Int, c: Int, d: Int): Long =
    (Spread.by4(a) << 3) | (Spread.by4(b) << 2) | (Spread.by4(c) << 1) | Spread.by4(d)

  /** Four words of 8 bits; higher bits are ignored. */
  def morton4Bytes(a: Int, b: Int, c: Int, d: Int): Int =
    (Spread.by4Byte(a) << 3) | (Spread.by4Byte(b) << 2) | (Spread.by4Byte(c) << 1) | Spread.by4Byte(d)

  /**
   * The low `bits` bits of `coords(0)` .. `coords(d - 1)`, interleaved.
   *
   * @param d
   *   number of coordinates, at least 1
   * @param bits
   *   bits a coordinate, 1 to 32; `d * bits <= 63` (64 for the full unsigned range)
   */
  def interleave(coords: Array[Int], d: Int, bits: Int): Long = {
    val mask = -1 >>> (32 - bits)
    if (d == 2) morton2(coords(0) & mask, coords(1) & mask)
    else if (d == 3) morton3(coords(0) & mask, coords(1) & mask, coords(2) & mask)
    else if (d == 4) morton4(coords(0) & mask, coords(1) & mask, coords(2) & mask, coords(3) & mask)
    else if (d <= 8) {
      var out = 0L
      var i = 0
      while (i < d) {
        out = (out << 1) | Spread(d, coords(i) & mask)
        i += 1
      }
      out
    } else byLoop(coords, d, bits)
  }

  private def byLoop(coords: Array[Int], d: Int, bits: Int): Long = {
    var out = 0L
    var level = bits - 1
    while (level >= 0) {
      var i = 0
      while (i < d) {
        out = (out << 1) | ((coords(i) >>> level) & 1)
        i += 1
      }
      level -= 1
    }
    out
  }
}

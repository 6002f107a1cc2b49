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

/**
 * Pulls the bits of a number apart, so that bit `i` lands at bit `k * i`: the inner step of interleaving.
 * Two, three and four columns by the masks known since Morton codes; five to eight by a table per byte.
 */
private[curve] object Spread {
  private val tables: Array[Array[Long]] = Array.tabulate(9)(k => if (k < 5) null else byteTable(k))
  private val bytesBy4: Array[Int] = byteTable(4).map(_.toInt)

  /** All 32 bits of `x` at distance 2. */
  def by2(x: Int): Long = {
    var v = x & 0xffffffffL
    v = (v | (v << 16)) & 0x0000ffff0000ffffL
    v = (v | (v << 8)) & 0x00ff00ff00ff00ffL
    v = (v | (v << 4)) & 0x0f0f0f0f0f0f0f0fL
    v = (v | (v << 2)) & 0x3333333333333333L
    (v | (v << 1)) & 0x5555555555555555L
  }

  /** The low 21 bits of `x` at distance 3. */
  def by3(x: Int): Long = {
    var v = x & 0x1fffffL
    v = (v | (v << 32)) & 0x001f00000000ffffL
    v = (v | (v << 16)) & 0x001f0000ff0000ffL
    v = (v | (v << 8)) & 0x100f00f00f00f00fL
    v = (v | (v << 4)) & 0x10c30c30c30c30c3L
    (v | (v << 2)) & 0x1249249249249249L
  }

  /** The low 16 bits of `x` at distance 4. */
  def by4(x: Int): Long = {
    var v = x & 0xffffL
    v = (v | (v << 24)) & 0x000000ff000000ffL
    v = (v | (v << 12)) & 0x000f000f000f000fL
    v = (v | (v << 6)) & 0x0303030303030303L
    (v | (v << 3)) & 0x1111111111111111L
  }

  /** The low 8 bits of `x` at distance 4, by one look-up. */
  def by4Byte(x: Int): Int = bytesBy4(x & 0xff)

  /** The low `64 / k` bits of `x` at distance `k`, for `k` from 1 to 8. Higher bits of `x` must be 0. */
  def apply(k: Int, x: Int): Long = k match {
    case 1 => x & 0xffffffffL
    case 2 => by2(x)
    case 3 => by3(x)
    case 4 => by4(x)
    case _ =>
      val table = tables(k)
      table(x & 0xff) | (table((x >>> 8) & 0xff) << (8 * k))
  }

  private def byteTable(k: Int): Array[Long] = Array.tabulate(256) { byte =>
    var out = 0L
    var i = 0
    while (i < 8) {
      out |= ((byte >>> i) & 1L) << (i * k)
      i += 1
    }
    out
  }
}

package sparkzorder.curve

import java.math.BigInteger

/**
 * The raw `hilbert` key: the columns extended by zeros at the low end to the widest one, the curve of
 * [[Hilbert]] over that cube. The bits are interleaved and then turned into digits in place.
 */
object HilbertKey {

  // a digit and the bits read too many must fit one long
  private val MaxStreamed = 56

  /** The key of one row, whose words are laid out as `shape` says; only the result is allocated. */
  def key(shape: KeyShape, words: Array[Long]): Array[Byte] = {
    val out = new Array[Byte](shape.hilbertBytes)
    write(shape, words, out)
    out
  }

  /** Writes the key into `out`, `shape.hilbertBytes` bytes long; what was in it is overwritten. */
  def write(shape: KeyShape, words: Array[Long], out: Array[Byte]): Unit = {
    java.util.Arrays.fill(out, 0.toByte)
    Interleave.run(shape.cube, words, out)
    val d = shape.columns
    if (d > MaxStreamed) byBigInteger(d, shape.levels, out)
    else if (d > HilbertTables.MaxD) byRule(d, shape.levels, out)
    else if (d > 1) byTable(HilbertTables(d), d * shape.levels, out)
  }

  private def byTable(tables: HilbertTables, bits: Int, key: Array[Byte]): Unit = {
    val table = tables.toIndex
    val step = tables.step
    val mask = tables.mask
    var state = tables.start(0)
    var in = 0L
    var held = 0
    var from = 0
    var out = 0L
    var made = 0
    var to = 0
    var left = bits
    while (left > 0) {
      while (held < step && from < key.length) {
        in = (in << 8) | (key(from) & 0xff)
        from += 1
        held += 8
      }
      val short = step - held
      val cells = if (short > 0) in << short else in >>> -short
      val entry = table(state | (cells.toInt & mask)).toInt
      state = entry & ~mask
      held -= step
      // levels behind the last one are zeros, and what they give is cut off again
      val n = math.min(step, left)
      out = (out << n) | ((entry & mask) >>> (step - n))
      made += n
      left -= n
      while (made >= 8) {
        made -= 8
        key(to) = (out >>> made).toByte
        to += 1
      }
    }
    if (made > 0) key(to) = (out << (8 - made)).toByte
  }

  private def byRule(d: Int, levels: Int, key: Array[Byte]): Unit = {
    val mask = -1L >>> (64 - d)
    var entry = 0L
    var axis = HilbertRule.startAxis(d)
    var in = 0L
    var held = 0
    var from = 0
    var out = 0L
    var made = 0
    var to = 0
    var level = 0
    while (level < levels) {
      while (held < d) {
        in = (in << 8) | (key(from) & 0xff)
        from += 1
        held += 8
      }
      held -= d
      val digit = HilbertRule.digit((in >>> held) & mask, entry, axis, d)
      entry = HilbertRule.nextEntry(digit, entry, axis, d)
      axis = HilbertRule.nextAxis(digit, axis, d)
      out = (out << d) | digit
      made += d
      while (made >= 8) {
        made -= 8
        key(to) = (out >>> made).toByte
        to += 1
      }
      level += 1
    }
    if (made > 0) key(to) = (out << (8 - made)).toByte
  }

  /** [[HilbertRule]] for digits of any size: nobody needs it fast. */
  private def byBigInteger(d: Int, levels: Int, key: Array[Byte]): Unit = {
    val ones = BigInteger.ONE.shiftLeft(d).subtract(BigInteger.ONE)
    def rotateLeft(x: BigInteger, by: Int): BigInteger =
      x.shiftLeft(by % d).or(x.shiftRight(d - by % d)).and(ones)
    def gray(x: BigInteger): BigInteger = x.xor(x.shiftRight(1))
    val cells = new BigInteger(1, key).shiftRight(key.length * 8 - d * levels)
    var entry = BigInteger.ZERO
    var axis = HilbertRule.startAxis(d)
    var out = BigInteger.ZERO
    for (level <- levels - 1 to 0 by -1) {
      val cell = cells.shiftRight(level * d).and(ones)
      val turned = rotateLeft(cell.xor(entry), d - (axis + 1) % d)
      var digit = turned
      for (by <- 1 until d) digit = digit.xor(turned.shiftRight(by))
      val odd = if (digit.testBit(0)) digit else digit.subtract(BigInteger.ONE).max(BigInteger.ZERO)
      if (digit.signum > 0) entry = entry.xor(rotateLeft(gray(odd.clearBit(0)), axis + 1))
      axis = (axis + 1 + odd.not.getLowestSetBit % d) % d
      out = out.shiftLeft(d).or(digit)
    }
    val bytes = out.shiftLeft(key.length * 8 - d * levels).toByteArray
    java.util.Arrays.fill(key, 0.toByte)
    val n = math.min(bytes.length, key.length)
    System.arraycopy(bytes, bytes.length - n, key, key.length - n, n)
  }
}

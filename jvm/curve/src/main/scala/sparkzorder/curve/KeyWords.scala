package sparkzorder.curve

/**
 * Writes one value into the words of a row (see [[KeyShape]]): the NULL bit, then the value as an unsigned
 * number of its type's order. Each call writes every long of its column, so an array can be used again.
 * Called from generated code; nothing is allocated.
 */
object KeyWords {
  // the NULL bit is the top bit of the first long: a value has it set, by `Long.MinValue`

  /** NULL: all bits 0, so it lies below every value. */
  def putNull(words: Array[Long], at: Int, width: Int): Unit = {
    words(at) = 0L
    if (width >= 64) words(at + 1) = 0L
    if (width >= 128) words(at + 2) = 0L
  }

  /**
   * A signed number of `width` bits (8, 16, 32 or 64), or a truth value as 0 or 1 (`width` 1).
   *
   * @param at
   *   index of the column's first long
   */
  def putLong(words: Array[Long], at: Int, width: Int, value: Long): Unit =
    if (width == 64) {
      words(at) = Long.MinValue | ((value ^ Long.MinValue) >>> 1)
      words(at + 1) = value << 63
    } else if (width == 1) words(at) = Long.MinValue | (value << 62)
    else {
      // shifting to the top cuts the sign extension off; the flip makes signed order unsigned
      words(at) = Long.MinValue | (((value << (64 - width)) ^ Long.MinValue) >>> 1)
    }

  /** The first 16 bytes of `bytes`, padded with zeros: a column of 128 bits. */
  def putBytes(words: Array[Long], at: Int, bytes: Array[Byte]): Unit =
    putHighLow(words, at, bigEndian(bytes, 0), bigEndian(bytes, 8))

  /** 128 bits given as two longs. */
  def putHighLow(words: Array[Long], at: Int, high: Long, low: Long): Unit = {
    words(at) = Long.MinValue | (high >>> 1)
    words(at + 1) = (high << 63) | (low >>> 1)
    words(at + 2) = low << 63
  }

  /** A whole key, left-aligned in the words, with zeros behind. */
  def putKey(words: Array[Long], key: Array[Byte]): Unit = {
    var i = 0
    while (i < words.length) {
      words(i) = bigEndian(key, 8 * i)
      i += 1
    }
  }

  private def bigEndian(bytes: Array[Byte], from: Int): Long = {
    val until = math.min(bytes.length, from + 8)
    var out = 0L
    var i = from
    while (i < until) {
      out |= (bytes(i) & 0xffL) << (56 - 8 * (i - from))
      i += 1
    }
    out
  }
}

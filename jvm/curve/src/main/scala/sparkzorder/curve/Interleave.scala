package sparkzorder.curve

/** The raw `zorder` key: the bits of all columns, level by level. Only the result is allocated. */
object Interleave {

  /** The key of one row, whose words are laid out as `shape` says. */
  def key(shape: KeyShape, words: Array[Long]): Array[Byte] = {
    val out = new Array[Byte](shape.zorderBytes)
    run(shape.segments, words, out)
    out
  }

  private[curve] def run(segments: Array[KeySegment], words: Array[Long], out: Array[Byte]): Unit = {
    var position = 0
    var s = 0
    while (s < segments.length) {
      val segment = segments(s)
      position =
        if (segment.begin.length <= 8) byChunks(segment, words, out, position)
        else byBits(segment, words, out, position)
      s += 1
    }
  }

  /** As many levels at a time as fit one long. */
  private def byChunks(segment: KeySegment, words: Array[Long], out: Array[Byte], start: Int): Int = {
    val k = segment.begin.length
    val most = 64 / k
    var position = start
    var level = segment.from
    while (level < segment.until) {
      val n = math.min(most, segment.until - level)
      position = append(out, position, chunk(segment, words, level, n, k), n * k)
      level += n
    }
    position
  }

  private def chunk(segment: KeySegment, words: Array[Long], level: Int, n: Int, k: Int): Long =
    if (k == 1) read(words, segment.begin(0), segment.end(0), level, n)
    else {
      var code = 0L
      var i = 0
      while (i < k) {
        code = (code << 1) | Spread(k, read(words, segment.begin(i), segment.end(i), level, n).toInt)
        i += 1
      }
      code
    }

  private def byBits(segment: KeySegment, words: Array[Long], out: Array[Byte], start: Int): Int = {
    val k = segment.begin.length
    var position = start
    var level = segment.from
    while (level < segment.until) {
      var i = 0
      while (i < k) {
        val bit = read(words, segment.begin(i), segment.end(i), level, 1).toInt
        out(position >>> 3) = (out(position >>> 3) | (bit << (7 - (position & 7)))).toByte
        position += 1
        i += 1
      }
      level += 1
    }
    position
  }

  /** `n` bits (1 to 64) of a column from `level` on; zeros behind its last word. */
  private def read(words: Array[Long], begin: Int, end: Int, level: Int, n: Int): Long = {
    val at = begin + (level >>> 6)
    val skip = level & 63
    var bits = if (at < end) words(at) << skip else 0L
    if (skip + n > 64 && at + 1 < end) bits |= words(at + 1) >>> (64 - skip)
    bits >>> (64 - n)
  }

  /** Puts the low `n` bits of `code` behind the first `position` bits of `out`, which ends in zeros. */
  private def append(out: Array[Byte], position: Int, code: Long, n: Int): Int = {
    var rest = code << (64 - n)
    var at = position >>> 3
    val free = 8 - (position & 7)
    out(at) = (out(at) | (rest >>> (64 - free))).toByte
    rest <<= free
    var left = n - free
    while (left > 0) {
      at += 1
      out(at) = (rest >>> 56).toByte
      rest <<= 8
      left -= 8
    }
    position + n
  }
}

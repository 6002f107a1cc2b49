package sparkzorder.curve.layout

import sparkzorder.curve.{BelowBytes, BytesWord, LongWord, Word}

/**
 * A scale of byte strings: every value of a bin has the rank in the middle of the bin's rows, which is both
 * its `low` and its `high`.
 *
 * @param starts
 *   first string of each bin, ascending; shortest separators, so a start need not be a value
 * @param point
 *   whether a bin holds one value only
 */
final class BytesScale(
    val starts: Array[Array[Byte]],
    val point: Array[Boolean],
    val low: Array[Int],
    val high: Array[Int],
    val rows: Array[Int],
    val nulls: Int,
    val sampled: Int)
    extends Scale {

  /** What all starts begin with: compared once, so that long common prefixes cost nothing. */
  private[this] val prefix: Array[Byte] =
    if (bins == 1) Array.emptyByteArray
    else starts(0).take(BytesScale.commonPrefix(starts(0), starts(bins - 1)))

  /** The eight bytes after the prefix as an unsigned number with its sign flipped. */
  private[this] val heads: Array[Long] = starts.map(BytesScale.head(_, prefix.length))

  private[this] val below = rankBelowAll
  private[this] val middle: Array[Int] = low.map(Scale.clamp)

  override def isPoint(i: Int): Boolean = point(i)

  override def rank(word: Word): Int = word match {
    case BytesWord(bytes) => rank(bytes)
    case BelowBytes(end) => rank(end, equal = 0)
    case _: LongWord => throw new IllegalArgumentException("this column's scale is one of byte strings")
  }

  def rank(value: Array[Byte]): Int = rank(value, equal = 1)

  /** @param equal
   *   1 where a start that is the value itself is not above it, 0 where it is
   */
  private[this] def rank(value: Array[Byte], equal: Int): Int = {
    val shared = BytesScale.commonPrefix(value, prefix)
    if (shared < prefix.length) {
      val isBelow = shared == value.length || (value(shared) & 0xff) < (prefix(shared) & 0xff)
      if (isBelow) below else middle(bins - 1)
    } else {
      val head = BytesScale.head(value, prefix.length)
      var from = -1
      var until = bins - 1
      while (from < until) {
        val mid = (from + until + 1) >>> 1
        val order = java.lang.Long.compare(heads(mid), head)
        val atOrBelow = order < 0 || (order == 0 && BytesWord.compareBytes(starts(mid), value) < equal)
        if (atOrBelow) from = mid else until = mid - 1
      }
      if (from < 0) below else middle(from)
    }
  }
}

object BytesScale {

  /** How many leading bytes two strings share. */
  def commonPrefix(a: Array[Byte], b: Array[Byte]): Int = {
    val n = math.min(a.length, b.length)
    var i = 0
    while (i < n && a(i) == b(i)) i += 1
    i
  }

  private def head(bytes: Array[Byte], from: Int): Long = {
    var word = 0L
    var i = 0
    while (i < 8) {
      val at = from + i
      word = (word << 8) | (if (at < bytes.length) bytes(at) & 0xffL else 0L)
      i += 1
    }
    word ^ Long.MinValue
  }
}

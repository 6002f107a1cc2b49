package sparkzorder.curve.layout

import sparkzorder.curve.{LongWord, Word}

/**
 * A scale of numbers, linear inside a bin.
 *
 * @param starts
 *   first word of each bin, ascending, and one more entry: the end of the last bin (exclusive)
 */
final class LongScale(
    val starts: Array[Long],
    val low: Array[Int],
    val high: Array[Int],
    val rows: Array[Int],
    val nulls: Int,
    val sampled: Int)
    extends Scale {
  private[this] val first = starts(0)
  private[this] val end = starts(bins)
  private[this] val below = rankBelowAll

  /** The greatest long has no successor, so it is beyond the end even where it was sampled. */
  private[this] val above = if (end == Long.MaxValue) Scale.clamp(high(bins - 1)) else Scale.One - 1

  @transient private[this] val index = BinIndex(starts, Array.tabulate(bins)(inBin))

  /** The lower half is the rank of the bin's first word, the upper one what each further word adds. */
  private def inBin(i: Int): Long = {
    val from = Scale.clamp(low(i))
    val slope = (Scale.clamp(high(i)) - from) / LongScale.unsigned(starts(i + 1) - starts(i))
    (java.lang.Float.floatToIntBits(LongScale.roundedDown(slope)).toLong << 32) | from
  }

  /** The index is made again where the scale arrives. */
  private def readResolve(): AnyRef = new LongScale(starts, low, high, rows, nulls, sampled)

  override def isPoint(i: Int): Boolean = starts(i + 1) - starts(i) == 1L

  override def rank(word: Word): Int = word match {
    case LongWord(value) => rank(value)
    case _ => throw new IllegalArgumentException("this column's scale is one of numbers")
  }

  def rank(value: Long): Int =
    if (value < first) below
    else if (value >= end) above
    else {
      val place = index.place(value)
      val inBin = index.held(place)
      val slope = java.lang.Float.intBitsToFloat((inBin >>> 32).toInt)
      // a product of doubles is monotone and stays in the bin, however wide it is
      inBin.toInt + (LongScale.unsigned(value - index.start(place)) * slope).toInt
    }
}

private object LongScale {
  def unsigned(x: Long): Double =
    if (x >= 0) x.toDouble else ((x >>> 1) | (x & 1L)).toDouble * 2.0

  private def roundedDown(x: Double): Float = {
    val near = x.toFloat
    if (near > x) Math.nextDown(near) else near
  }
}

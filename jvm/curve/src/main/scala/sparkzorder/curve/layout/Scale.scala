package sparkzorder.curve.layout

import sparkzorder.curve.{BelowBytes, NormalizedBytes, NormalizedLong, NormalizedValue}

/**
 * The ranks of one column: a non-decreasing map from its values to `[1, Scale.One)`, fitted on a sample so
 * that equal spans of rank hold equal shares of the rows. NULL has rank 0 and is not asked about here.
 *
 * A scale is a list of bins in the order of the values. A ''point'' bin holds one value with enough rows to
 * count by itself; all of it has the rank in the middle of its rows (mid-rank), so that a cut never falls
 * into it. Any other bin spreads its values over its span of ranks.
 */
trait Scale extends Serializable {

  /** Rank at which each bin begins, non-decreasing. */
  def low: Array[Int]

  /** Rank at which each bin ends (exclusive); equal to `low` in a bin that has no width. */
  def high: Array[Int]

  /** Rows of the sample that are in each bin. */
  def rows: Array[Int]

  /** Rows of the sample that are NULL. */
  def nulls: Int

  /** All rows of the sample, NULLs included. */
  def sampled: Int

  def rank(normalized: NormalizedValue): Int

  final def bins: Int = low.length

  /** Share of NULLs in the sample. */
  final def nullShare: Double = nulls.toDouble / sampled

  /** Whether bin `i` holds one value only. */
  def isPoint(i: Int): Boolean

  /** The rank of a value below all that were sampled: above NULL, not above any other. */
  final protected def rankBelowAll: Int = Scale.clamp(Scale.rankOf(nulls.toLong, sampled))

  /** Rank spans of single values (NULL first) that hold more than `share` of the rows, ascending. */
  final def heavy(share: Double): Array[RankSpan] = {
    val out = Array.newBuilder[RankSpan]
    if (nullShare > share) out += RankSpan(0, Scale.rankOf(nulls.toLong, sampled))
    var before = nulls.toLong
    var i = 0
    while (i < bins) {
      if (isPoint(i) && rows(i) > share * sampled)
        out += RankSpan(Scale.rankOf(before, sampled), Scale.rankOf(before + rows(i), sampled))
      before += rows(i)
      i += 1
    }
    out.result()
  }

  /** The narrowest span inside `[from, until)` that holds all its sampled rows; empty if there are none. */
  final def occupied(from: Int, until: Int): RankSpan = {
    var first = binsThat(endOf(_) <= from)
    while (first < bins && rows(first) == 0) first += 1
    var last = binsThat(low(_) < until) - 1
    while (last >= first && rows(last) == 0) last -= 1
    val withNulls = from == 0 && nulls > 0
    if (first <= last)
      RankSpan(if (withNulls) 0 else math.max(low(first), from), math.min(endOf(last), until))
    else if (withNulls) RankSpan(0, 1)
    else RankSpan(from, from)
  }

  /** A bin without width has one rank. */
  private def endOf(bin: Int): Int = math.max(high(bin), low(bin) + 1)

  /** Number of bins for which a condition holds that never turns true again. */
  private def binsThat(holds: Int => Boolean): Int = {
    var from = 0
    var until = bins
    while (from < until) {
      val middle = (from + until) >>> 1
      if (holds(middle)) from = middle + 1 else until = middle
    }
    from
  }
}

/** Ranks `[from, until)`. */
final case class RankSpan(from: Int, until: Int) {
  def width: Int = until - from
}

object Scale {

  /** The number of bits of a rank. */
  val Bits: Int = 30

  /** One more than the greatest rank: 2^30, so that ranks are positive ints with room for sums. */
  val One: Int = 1 << Bits

  /** The rank below which lie `rowsBelow` of `sampled` rows. */
  def rankOf(rowsBelow: Long, sampled: Int): Int = (rowsBelow * One / sampled).toInt

  private[layout] def clamp(rank: Int): Int = math.max(1, math.min(One - 1, rank))
}

/**
 * A scale of numbers, linear inside a bin.
 *
 * @param starts
 *   first value of each bin, ascending, and one more entry: the end of the last bin (exclusive)
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

  /** The lower half is the rank of the bin's first value, the upper one what each further value adds. */
  private def inBin(i: Int): Long = {
    val from = Scale.clamp(low(i))
    val slope = (Scale.clamp(high(i)) - from) / LongScale.unsigned(starts(i + 1) - starts(i))
    (java.lang.Float.floatToIntBits(LongScale.roundedDown(slope)).toLong << 32) | from
  }

  /** The index is made again where the scale arrives. */
  private def readResolve(): AnyRef = new LongScale(starts, low, high, rows, nulls, sampled)

  override def isPoint(i: Int): Boolean = starts(i + 1) - starts(i) == 1L

  override def rank(normalized: NormalizedValue): Int = normalized match {
    case NormalizedLong(value) => rank(value)
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

  /** Whether several of the sampled values have one rank. */
  def hasTies: Boolean = rows.indices.exists(i => !point(i) && rows(i) > 0)

  override def rank(normalized: NormalizedValue): Int = normalized match {
    case NormalizedBytes(bytes) => rank(bytes)
    case BelowBytes(end) => rank(end, equal = 0)
    case _: NormalizedLong => throw new IllegalArgumentException("this column's scale is one of byte strings")
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
        val atOrBelow = order < 0 || (order == 0 && NormalizedBytes.compareBytes(starts(mid), value) < equal)
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
    var eight = 0L
    var i = 0
    while (i < 8) {
      val at = from + i
      eight = (eight << 8) | (if (at < bytes.length) bytes(at) & 0xffL else 0L)
      i += 1
    }
    eight ^ Long.MinValue
  }
}

/**
 * Finds the bin of a number: a table by the distance from the first bin gives a bin at or before it, and a
 * binary search goes on from there. The search takes the same number of steps for every value and has no
 * branch that depends on it, since such a branch is mispredicted every other time. What a bin holds lies
 * beside its start, in the cache line that the search has read.
 *
 * The slots of the table are equally wide, or, where that leaves fewer steps, twice as wide from one octave
 * of the distance to the next, as skewed columns need it.
 *
 * @param starts
 *   first number of each bin, ascending, and one more entry: the end of the last bin (exclusive)
 * @param values
 *   a number for each bin, which `held` gives back
 */
final private[layout] class BinIndex private (starts: Array[Long], values: Array[Long], octaves: Boolean) {
  private[this] val bins = starts.length - 1
  private[this] val first = starts(0)
  private[this] val wide = starts(bins) - first < 0
  private[this] val greatest = starts(bins) - 1 - first
  private[this] val shift =
    math.max(0, 64 - java.lang.Long.numberOfLeadingZeros(greatest) - BinIndex.SlotBits)

  // per slot, the last bin that begins before it
  private[this] val top: Array[Char] = {
    val slots = slot(greatest) + 1
    val table = new Array[Char](slots + 1)
    var bin = 0
    var s = 0
    while (s < slots) {
      while (bin + 1 < bins && slot(starts(bin + 1) - first) < s) bin += 1
      table(s) = bin.toChar
      s += 1
    }
    table(slots) = (bins - 1).toChar
    table
  }

  /** Binary steps of every search. */
  val steps: Int = {
    val most = (0 until top.length - 1).map(s => top(s + 1) - top(s)).max
    32 - Integer.numberOfLeadingZeros(most)
  }

  // start and held number of each bin in turn; no step may look behind the end
  private[this] val pairs: Array[Long] =
    Array.tabulate(2 * (starts.length + (1 << steps))) { i =>
      if (i % 2 == 0) starts(math.min(i / 2, bins)) else values(math.min(i / 2, bins - 1))
    }

  // so that a difference of two numbers fits a long
  private[this] val halves: Array[Long] =
    if (wide) Array.tabulate(starts.length + (1 << steps))(i => starts(math.min(i, bins)) >> 1) else null

  /** The place of the bin of `value`, which lies in one of them: twice its number. */
  def place(value: Long): Int =
    if (wide) 2 * binByHalves(value)
    else {
      var at = 2 * top(slot(value - first))
      var step = 1 << steps
      while (step > 1) {
        // all ones where the bin a step ahead begins at or before the value
        at += step & ~((value - pairs(at + step)) >> 63).toInt
        step >>>= 1
      }
      at
    }

  /** The start of the bin at a place. */
  def start(place: Int): Long = pairs(place)

  /** The number that was given for the bin at a place. */
  def held(place: Int): Long = pairs(place + 1)

  private def binByHalves(value: Long): Int = {
    val half = value >> 1
    var at = top(slot(value - first)).toInt
    var step = (1 << steps) >>> 1
    while (step > 0) {
      at += step & ~((half - halves(at + step)) >> 63).toInt
      step >>>= 1
    }
    // two bins may begin at the same half, and the end may be it, too
    val found = math.min(at, bins - 1)
    if (starts(found) > value) found - 1 else found
  }

  private def slot(distance: Long): Int =
    if (octaves) {
      val x = distance + BinIndex.OctaveSlots
      val octave = BinIndex.OctaveBits - java.lang.Long.numberOfLeadingZeros(x)
      (octave << BinIndex.OctaveSlotBits) + (x >>> octave).toInt - BinIndex.OctaveSlots
    } else (distance >>> shift).toInt
}

private[layout] object BinIndex {

  // scalafix:off DisableSyntax
  // final: the compiler folds them into the search, where a plain val is a field of the object

  // at most 4096 slots of equal width, or 64 an octave
  private final val SlotBits = 12
  private final val OctaveSlotBits = 6
  private final val OctaveSlots = 1 << OctaveSlotBits
  private final val OctaveBits = 63 - OctaveSlotBits
  // scalafix:on DisableSyntax

  def apply(starts: Array[Long], held: Array[Long]): BinIndex = {
    val even = new BinIndex(starts, held, octaves = false)
    // one step more costs less than the octave of a number
    if (even.steps <= 3 || starts.last - starts(0) < 0) even
    else {
      val byOctave = new BinIndex(starts, held, octaves = true)
      if (byOctave.steps + 1 < even.steps) byOctave else even
    }
  }
}

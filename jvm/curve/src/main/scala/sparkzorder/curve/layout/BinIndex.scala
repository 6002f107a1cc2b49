package sparkzorder.curve.layout

/**
 * Finds the bin of a number: a table by the distance from the first bin gives a bin at or before it, and a
 * binary search goes on from there. The search takes the same number of steps for every value and has no
 * branch that depends on it, since such a branch is mispredicted every other time. What a bin holds lies beside
 * its start, in the cache line that the search has read.
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

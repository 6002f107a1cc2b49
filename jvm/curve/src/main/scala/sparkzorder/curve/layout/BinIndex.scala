package sparkzorder.curve.layout

/**
 * Finds the bin of a number: a table by the distance from the first bin gives a bin at or before it, and a
 * binary search goes on from there. The search takes the same number of steps for every value and has no
 * branch that depends on it, since such a branch is mispredicted every other time.
 *
 * The slots of the table are equally wide, or, where that leaves fewer steps, twice as wide from one octave
 * of the distance to the next, as skewed columns need it.
 *
 * @param starts
 *   first number of each bin, ascending, and one more entry: the end of the last bin (exclusive)
 */
final private[layout] class BinIndex private (starts: Array[Long], octaves: Boolean) extends Serializable {
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

  // no step may look behind the array
  private[this] val padded: Array[Long] = starts ++ Array.fill(1 << steps)(starts(bins))

  // so that a difference of two numbers fits a long
  private[this] val halve = if (wide) 1 else 0

  /** The bin of `value`, which lies in one of them. */
  def bin(value: Long): Int = {
    val half = value >> halve
    var at = top(slot(value - first)).toInt
    var step = (1 << steps) >>> 1
    while (step > 0) {
      // all ones where the bin a step ahead begins at or before the value
      at += step & ~((half - (padded(at + step) >> halve)) >> 63).toInt
      step >>>= 1
    }
    if (wide) exact(at, value) else at
  }

  /** Halved, two bins may begin at the same number, and the end may be it, too. */
  private def exact(at: Int, value: Long): Int = {
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

  def apply(starts: Array[Long]): BinIndex = {
    val even = new BinIndex(starts, octaves = false)
    // one step more costs less than the octave of a number
    if (even.steps <= 3 || starts.last - starts(0) < 0) even
    else {
      val byOctave = new BinIndex(starts, octaves = true)
      if (byOctave.steps + 1 < even.steps) byOctave else even
    }
  }
}

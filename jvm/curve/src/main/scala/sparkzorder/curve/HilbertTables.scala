package sparkzorder.curve

/**
 * State tables of the Hilbert curve in 2, 3 and 4 dimensions, made once from [[HilbertRule]].
 * One step takes several levels: an entry is the next state (already shifted into place) over the digits.
 *
 * @param d
 *   dimensions
 * @param levels
 *   levels a step takes
 */
private[curve] final class HilbertTables(val d: Int, val levels: Int) {

  /** Bits of one step: index of the table below the state. */
  val step: Int = d * levels
  val mask: Int = (1 << step) - 1

  // state numbers: 0 .. d-1 are those that reach the start after so many levels of zeros
  private val states: IndexedSeq[(Int, Int)] = reachable()

  /** `toIndex(state << step | cells)` = next state `<< step | digits`. */
  val toIndex: Array[Char] = build()

  // for curves of so many levels that fit one long: a division is as slow as two look-ups
  private val begin: Array[Int] =
    Array.tabulate(64 / d + 1)(bits =>
      start((levels - bits % levels) % levels) | (bits + levels - 1) / levels)

  /** Steps that `bits` levels take. */
  def stepsOf(bits: Int): Int = begin(bits) & mask

  /** The state, shifted into place, in which a curve of `bits` levels begins its first step. */
  def startOf(bits: Int): Int = begin(bits) & ~mask

  /** The state, shifted into place, from which `zeros` levels of zeros lead to the start of the curve. */
  def start(zeros: Int): Int = (zeros % d) << step

  private def reachable(): IndexedSeq[(Int, Int)] = {
    var found = Vector.tabulate(d)(p => (0, (HilbertRule.startAxis(d) - p + d) % d))
    var i = 0
    while (i < found.length) {
      val (entry, axis) = found(i)
      val next = (0 until (1 << d)).map { w =>
        val enter = HilbertRule.nextEntry(w.toLong, entry.toLong, axis, d).toInt
        (enter, HilbertRule.nextAxis(w.toLong, axis, d))
      }
      found = found ++ next.distinct.filterNot(found.contains(_))
      i += 1
    }
    found
  }

  private def build(): Array[Char] = {
    val number = states.zipWithIndex.toMap
    val out = new Array[Char](states.length << step)
    for (s <- states.indices; in <- 0 to mask) {
      var (entry, axis) = states(s)
      var digits = 0
      for (level <- levels - 1 to 0 by -1) {
        val cell = ((in >>> (level * d)) & ((1 << d) - 1)).toLong
        val digit = HilbertRule.digit(cell, entry.toLong, axis, d)
        digits = (digits << d) | digit.toInt
        val nextEntry = HilbertRule.nextEntry(digit, entry.toLong, axis, d).toInt
        axis = HilbertRule.nextAxis(digit, axis, d)
        entry = nextEntry
      }
      out((s << step) | in) = ((number((entry, axis)) << step) | digits).toChar
    }
    out
  }
}

private[curve] object HilbertTables {
  private val all: Array[HilbertTables] =
    Array(null, null, new HilbertTables(2, 5), new HilbertTables(3, 3), new HilbertTables(4, 2))

  /** Dimensions that have tables. */
  val MaxD = 4

  def apply(d: Int): HilbertTables = all(d)
}

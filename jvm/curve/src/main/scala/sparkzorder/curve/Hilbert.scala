package sparkzorder.curve

/**
 * The Hilbert curve in any number of dimensions. Indexes that fit one long are here
 * (ranks inside a layout), the key over raw values in [[HilbertKey]]. Nothing is allocated.
 *
 * The curve is refined level by level from a fixed start: the first `d * k` bits of an index depend on the
 * first `k` bits of each coordinate only.
 */
object Hilbert {

  /**
   * Place on the curve of the point whose coordinates are the low `bits` bits of `coords(0)` and so on.
   *
   * @param d
   *   dimensions, at least 1
   * @param bits
   *   bits a coordinate, 1 to 32, with `d * bits <= 64`
   * @return
   *   0 to `2^(d * bits) - 1`, unsigned
   */
  def index(coords: Array[Int], d: Int, bits: Int): Long =
    if (d == 2) Hilbert2.index(coords(0), coords(1), bits)
    else if (d == 4) {
      val mask = -1 >>> (32 - bits)
      Hilbert4.index(coords(0) & mask, coords(1) & mask, coords(2) & mask, coords(3) & mask, bits)
    } else {
      val cells = Morton.interleave(coords, d, bits)
      if (d == 1) cells
      else if (d <= HilbertTables.MaxD) byTable(HilbertTables(d), cells, bits)
      else indexByRule(cells, d, bits)
    }

  private def byTable(tables: HilbertTables, in: Long, bits: Int): Long = {
    val table = tables.toIndex
    val step = tables.step
    val mask = tables.mask
    var state = tables.startOf(bits)
    var shift = (tables.stepsOf(bits) - 1) * step
    var out = 0L
    while (shift >= 0) {
      val entry = table(state | ((in >>> shift).toInt & mask)).toInt
      state = entry & ~mask
      out = (out << step) | (entry & mask)
      shift -= step
    }
    out
  }

  private def indexByRule(cells: Long, d: Int, bits: Int): Long = {
    val mask = -1L >>> (64 - d)
    var entry = 0L
    var axis = HilbertRule.startAxis(d)
    var out = 0L
    var level = bits - 1
    while (level >= 0) {
      val digit = HilbertRule.digit((cells >>> (level * d)) & mask, entry, axis, d)
      entry = HilbertRule.nextEntry(digit, entry, axis, d)
      axis = HilbertRule.nextAxis(digit, axis, d)
      out = (out << d) | digit
      level -= 1
    }
    out
  }
}

/**
 * The Hilbert index in two dimensions, where there are four states only. What five levels do to each of the
 * four fits one 16-bit number, so that the states follow from one another by a shift, and neither of the
 * two look-ups waits for the one before: half the time of the general tables.
 */
private object Hilbert2 {
  // scalafix:off DisableSyntax
  // final: the compiler folds them into the loop, where a plain val is a field of the object
  private final val Levels = 5
  private final val Mask = (1 << Levels) - 1

  // index: five bits of the first coordinate, then five of the second
  private final val Cells = 1 << (2 * Levels)
  // scalafix:on DisableSyntax

  // four bits a state: four times the next state, which is the shift that reads the next number
  private val next = new Array[Char](Cells)

  // index: state, cells
  private val digits = new Array[Char](4 * Cells)

  fill()

  /** The low `bits` bits (1 to 32) of `x` and `y`. */
  def index(x: Int, y: Int, bits: Int): Long = {
    val a = x & (-1 >>> (32 - bits))
    val b = y & (-1 >>> (32 - bits))
    val steps = (bits + Levels - 1) / Levels
    // zeros above the coordinates turn the curve; an odd number of them starts it the other way
    var state = ((steps * Levels - bits) & 1) << 2
    var shift = (steps - 1) * Levels
    var out = 0L
    while (shift >= 0) {
      val cells = (((a >>> shift) & Mask) << Levels) | ((b >>> shift) & Mask)
      out = (out << (2 * Levels)) | digits((state << (2 * Levels - 2)) | cells)
      state = (next(cells) >>> state) & 12
      shift -= Levels
    }
    out
  }

  private def fill(): Unit = {
    val tables = new HilbertTables(2, Levels)
    for (a <- 0 to Mask; b <- 0 to Mask; state <- 0 until 4) {
      val cells = (a << Levels) | b
      val entry = tables.toIndex((state << tables.step) | Morton.morton2(a, b).toInt).toInt
      digits((state << tables.step) | cells) = (entry & tables.mask).toChar
      next(cells) = (next(cells) | (((entry >>> tables.step) << 2) << (4 * state))).toChar
    }
  }
}

/**
 * The Hilbert index in four dimensions, for the order of the rows inside a file: the general tables, with
 * their sizes known when the code is compiled and coordinates that need no array.
 */
private[curve] object Hilbert4 {
  // scalafix:off DisableSyntax
  // final: the compiler folds them into the loop, where a plain val is a field of the object
  private final val Levels = 2
  private final val Step = 4 * Levels
  private final val Mask = (1 << Step) - 1
  // scalafix:on DisableSyntax

  private val tables = HilbertTables(4)
  require(tables.levels == Levels, "tables of other steps")
  private val table = tables.toIndex

  /** The index of four coordinates. Each has `bits` bits (1 to 16), and no higher bit may be set. */
  def index(a: Int, b: Int, c: Int, d: Int, bits: Int): Long = {
    val cells =
      if (bits <= 8) Morton.morton4Bytes(a, b, c, d) & 0xffffffffL else Morton.morton4(a, b, c, d)
    // an odd number of levels begins with one of zeros, which turns the curve
    var state = (bits & 1) << Step
    var shift = ((bits - 1) / Levels) * Step
    var out = 0L
    while (shift >= 0) {
      val entry = table(state | ((cells >>> shift).toInt & Mask)).toInt
      state = entry & ~Mask
      out = (out << Step) | (entry & Mask)
      shift -= Step
    }
    out
  }
}

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

/**
 * One level of the Hilbert curve in `d` dimensions (Butz's curve in Hamilton's formulation). A cell of the
 * level is a `d`-bit number, first coordinate in the top bit. A state is the corner where the curve
 * enters (`entry`) and the axis along which it leaves (`axis`): cell -> digit of the index -> next state.
 *
 * The first level is the Gray code itself: it enters at 0...0 and leaves along the first coordinate, so
 * in two dimensions (0,0), (0,1), (1,1), (1,0). In two dimensions the whole curve equals
 * Skilling's; from three on there is no orientation in which the two agree below the first level, because
 * Skilling permutes the axes of a sub-cube by exchanges and Butz by rotations. Both are Hilbert curves.
 */
private[curve] object HilbertRule {

  /** The axis with which a curve begins; the entry is 0. */
  def startAxis(d: Int): Int = d - 1

  /** Position on the curve of `cell`, for a curve that enters at `entry` and leaves along `axis`. */
  def digit(cell: Long, entry: Long, axis: Int, d: Int): Long =
    grayIndex(rotateRight(cell ^ entry, shift(axis, d), d))

  def nextEntry(digit: Long, entry: Long, axis: Int, d: Int): Long =
    if (digit == 0) entry
    else entry ^ rotateLeft(gray((digit - 1) & ~1L), shift(axis, d), d)

  def nextAxis(digit: Long, axis: Int, d: Int): Int = {
    // an odd digit turns by its trailing ones, an even one by those of its predecessor; d of them are none
    val turn = if (digit == 0) 0 else trailingOnes(if ((digit & 1) == 0) digit - 1 else digit)
    val next = axis + 1 + (if (turn >= d) turn - d else turn)
    if (next >= d) next % d else next
  }

  private def shift(axis: Int, d: Int): Int = if (axis + 1 == d) 0 else axis + 1

  private def trailingOnes(x: Long): Int = java.lang.Long.numberOfTrailingZeros(~x)

  private def gray(x: Long): Long = x ^ (x >>> 1)

  private def grayIndex(x: Long): Long = {
    var v = x ^ (x >>> 1)
    v ^= v >>> 2
    v ^= v >>> 4
    if (x >>> 8 == 0) v
    else {
      v ^= v >>> 8
      v ^= v >>> 16
      v ^ (v >>> 32)
    }
  }

  private def rotateLeft(x: Long, by: Int, d: Int): Long =
    if (by == 0) x else ((x << by) | (x >>> (d - by))) & (-1L >>> (64 - d))

  private def rotateRight(x: Long, by: Int, d: Int): Long =
    if (by == 0) x else ((x >>> by) | (x << (d - by))) & (-1L >>> (64 - d))
}

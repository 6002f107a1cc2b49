package sparkzorder.curve

/**
 * The Hilbert index in two dimensions, where there are four states only. What five levels do to each of the
 * four fits one 16-bit number, so that the states follow from one another by a shift, and neither of the
 * two look-ups waits for the one before: half the time of the general tables.
 */
private[curve] object Hilbert2 {
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

package sparkzorder.curve

/**
 * The Hilbert index in four dimensions, for the order of the rows inside a file: the general tables, with their
 * sizes known when the code is compiled and coordinates that need no array.
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

  /** Of coordinates of `bits` bits, 1 to 16, with no others set. */
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

package sparkzorder.curve

/**
 * Which bits of which columns a raw key holds, and in what order (docs/spec.md, section 1). It depends on the types
 * only.
 *
 * The words of a row lie in one `Array[Long]`: column `i` has `1 + widths(i)` bits, the NULL bit first,
 * left-aligned from `words(begin(i))` on, with zeros behind. [[KeyWords]] writes them.
 *
 * @param widths
 *   bits of each column without its NULL bit, 1 to 128
 */
final class KeyShape(val widths: Array[Int]) extends Serializable {
  require(widths.nonEmpty && widths.forall(w => w >= 1 && w <= KeyShape.MaxWidth), "1 to 128 bits a column")

  /** Number of columns. */
  val columns: Int = widths.length

  /** The longs of column `i` are those from `bounds(i)` until `bounds(i + 1)`. */
  private[curve] val bounds: Array[Int] = widths.scanLeft(0)((at, w) => at + KeyShape.longs(w))

  /** Number of longs that hold the words of one row. */
  val words: Int = bounds(columns)

  /** Levels of the key: the widest column and its NULL bit. */
  val levels: Int = widths.max + 1

  /** Length in bytes of `zorder(...)`. */
  val zorderBytes: Int = KeyShape.bytes(widths.map(_ + 1L).sum)

  /** Length in bytes of `hilbert(...)`. */
  val hilbertBytes: Int = KeyShape.bytes(columns.toLong * levels)

  /** Index of the first long of column `i`. */
  def begin(i: Int): Int = bounds(i)

  /** Index behind the last long of column `i`. */
  def end(i: Int): Int = bounds(i + 1)

  /** How `zorder(...)` is put together, from the top: exhausted columns drop out of the levels. */
  private[curve] val steps: Array[KeyStep] = {
    val ends = widths.map(_ + 1).distinct.sorted
    val starts = 0 +: ends.init
    starts.indices.flatMap(s =>
      run(starts(s), ends(s), widths.indices.filter(widths(_) >= ends(s) - 1))).toArray
  }

  /** All columns at all levels, as Hilbert needs it: a column reads as zeros below its own width. */
  private[curve] val cube: Array[KeyStep] = run(0, levels, widths.indices).toArray

  private def run(from: Int, until: Int, taking: IndexedSeq[Int]): Seq[KeyStep] =
    KeyStep.run(taking.map(begin), taking.map(end), from, until)
}

object KeyShape {

  /** Width of the widest word: 16 bytes of a string, or a decimal of more than 18 digits. */
  val MaxWidth = 128

  /** Longs that a column of `width` bits and its NULL bit take. */
  def longs(width: Int): Int = (width + 64) >>> 6

  private def bytes(bits: Long): Int = Math.toIntExact((bits + 7) / 8)
}

package sparkzorder.curve

/**
 * Which bits of which columns a raw key holds, and in what order (docs/spec.md, section 1). It depends on the
 * types only.
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

/**
 * Up to 64 bits of a raw key: some levels of some columns, whose bits of these levels lie at the same place
 * of one long each. What depends on the types only is worked out here, once.
 *
 * @param longs
 *   index in the words of a row of the long that holds these levels of each column; -1 where the column has
 *   ended, which reads as zeros
 * @param skip
 *   bits of these longs above the first level
 * @param levels
 *   number of levels; `skip + levels` may exceed 64 in a step of a single column, which then reads on in
 *   the next long
 */
private[curve] final class KeyStep(longs: Array[Int], skip: Int, levels: Int) extends Serializable {

  /** Number of bits. */
  val bits: Int = longs.length * levels

  private[this] val drop = 64 - levels
  private[this] val first = longs(0)
  private[this] val second = if (longs.length == 2) longs(1) else -1
  private[this] val crossing = math.max(0, skip + levels - 64)

  // what two columns need has ways of its own: a loop over so few takes longer to set up than to run
  private[this] val way =
    if (crossing > 0) KeyStep.ReadingOn
    else if (longs.length == 1 && first >= 0) KeyStep.Single
    else if (first >= 0 && second >= 0) if (levels == 1) KeyStep.PairOfBits else KeyStep.Pair
    else KeyStep.Loop

  // single bits, and the bits of a single column, lie side by side already
  private[this] val distance = if (levels == 1) 1 else longs.length

  /** The bits of the row, lowest `bits` bits of the result. */
  def code(words: Array[Long]): Long = way match {
    case KeyStep.Pair =>
      (Spread.by2(read(words, first).toInt) << 1) | Spread.by2(read(words, second).toInt)
    case KeyStep.PairOfBits => (read(words, first) << 1) | read(words, second)
    case KeyStep.Single => read(words, first)
    case KeyStep.ReadingOn => read(words, first) | (words(first + 1) >>> (64 - crossing))
    case _ => loop(words)
  }

  private def loop(words: Array[Long]): Long = {
    var out = 0L
    var i = 0
    while (i < longs.length) {
      val part = if (longs(i) < 0) 0L else read(words, longs(i))
      out = (out << 1) | (if (distance == 1) part else Spread(distance, part.toInt))
      i += 1
    }
    out
  }

  private def read(words: Array[Long], i: Int): Long = (words(i) << skip) >>> drop
}

private[curve] object KeyStep {
  // scalafix:off DisableSyntax
  // final: constants of a switch
  private final val Pair = 0
  private final val PairOfBits = 1
  private final val Single = 2
  private final val ReadingOn = 3
  private final val Loop = 4
  // scalafix:on DisableSyntax

  /** Up to this number of columns, [[Spread]] spreads the bits; more columns give one level at a time. */
  private val SpreadColumns = 8

  /**
   * The steps of a run of levels in which the same columns take part.
   *
   * @param begin
   *   index of the first long of each column
   * @param end
   *   index behind the last long of each column
   */
  def run(begin: IndexedSeq[Int], end: IndexedSeq[Int], from: Int, until: Int): Seq[KeyStep] = {
    val k = begin.length
    val most = if (k > SpreadColumns) 1 else 64 / k
    // only a single column reads on in its next long
    def next(level: Int): Int =
      math.min(math.min(level + most, until), if (k == 1) until else (level | 63) + 1)
    for {
      level <- Iterator.iterate(from)(next).takeWhile(_ < until).toSeq
      columns <- begin.indices.grouped(64)
    } yield {
      val longs = columns.map { i =>
        val at = begin(i) + (level >>> 6)
        if (at < end(i)) at else -1
      }
      new KeyStep(longs.toArray, level & 63, next(level) - level)
    }
  }
}

/**
 * Writes one value into the words of a row (see [[KeyShape]]): the NULL bit, then the value as an unsigned
 * number of its type's order. Each call writes every long of its column, so an array can be used again.
 * Called from generated code; nothing is allocated.
 */
object KeyWords {
  // the NULL bit is the top bit of the first long: a value has it set, by `Long.MinValue`

  /** NULL: all bits 0, so it lies below every value. */
  def putNull(words: Array[Long], at: Int, width: Int): Unit = {
    words(at) = 0L
    if (width >= 64) words(at + 1) = 0L
    if (width >= 128) words(at + 2) = 0L
  }

  /**
   * A signed number of `width` bits (8, 16, 32 or 64), or a truth value as 0 or 1 (`width` 1).
   *
   * @param at
   *   index of the column's first long
   */
  def putLong(words: Array[Long], at: Int, width: Int, value: Long): Unit =
    if (width == 64) {
      words(at) = Long.MinValue | ((value ^ Long.MinValue) >>> 1)
      words(at + 1) = value << 63
    } else if (width == 1) words(at) = Long.MinValue | (value << 62)
    else {
      // shifting to the top cuts the sign extension off; the flip makes signed order unsigned
      words(at) = Long.MinValue | (((value << (64 - width)) ^ Long.MinValue) >>> 1)
    }

  /** The first 16 bytes of `bytes`, padded with zeros: a column of 128 bits. */
  def putBytes(words: Array[Long], at: Int, bytes: Array[Byte]): Unit =
    putHighLow(words, at, bigEndian(bytes, 0), bigEndian(bytes, 8))

  /** 128 bits given as two longs. */
  def putHighLow(words: Array[Long], at: Int, high: Long, low: Long): Unit = {
    words(at) = Long.MinValue | (high >>> 1)
    words(at + 1) = (high << 63) | (low >>> 1)
    words(at + 2) = low << 63
  }

  /** A whole key, left-aligned in the words, with zeros behind. */
  def putKey(words: Array[Long], key: Array[Byte]): Unit = {
    var i = 0
    while (i < words.length) {
      words(i) = bigEndian(key, 8 * i)
      i += 1
    }
  }

  private def bigEndian(bytes: Array[Byte], from: Int): Long = {
    val until = math.min(bytes.length, from + 8)
    var out = 0L
    var i = from
    while (i < until) {
      out |= (bytes(i) & 0xffL) << (56 - 8 * (i - from))
      i += 1
    }
    out
  }
}

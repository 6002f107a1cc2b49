package sparkzorder.curve.prefix

import scala.collection.mutable

import sparkzorder.curve.{KeyShape, MsdOrder}

/**
 * Up to 64 chosen bits of a key, in the key's order, as one unsigned number: the prefix that rows are sorted
 * by. Bits that are the same in all rows need not be chosen; the order of the rows stays the key's order.
 * Evaluated by one table look-up for each byte of the words that has a chosen bit.
 *
 * @param end
 *   the first bit of the key that is neither chosen nor left out as constant; the key's length if there is
 *   none
 * @param constant
 *   the bits of the words that were left out before `end`
 */
final class BitPrefix private (
    val end: Int,
    private[prefix] val constant: Array[Long],
    word: Array[Int],
    shift: Array[Int],
    tables: Array[Long]) {

  /** The prefix of the row with these words. */
  def apply(words: Array[Long]): Long = {
    var out = 0L
    var i = 0
    while (i < word.length) {
      out |= tables((i << 8) | ((words(word(i)) >>> shift(i)).toInt & 0xff))
      i += 1
    }
    out
  }
}

object BitPrefix {
  private val Size = 64

  /** No bit chosen and none said to be constant: 0 for every row. */
  def nothing(bits: KeyBits): BitPrefix =
    new BitPrefix(0, new Array[Long](bits.words), Array.empty, Array.empty, Array.empty)

  /**
   * The first 64 bits of the key from `from` on that are among `varying`.
   *
   * @param varying
   *   bits of the words that may differ between rows
   */
  def of(bits: KeyBits, from: Int, varying: Array[Long]): BitPrefix = {
    val chosen = mutable.ArrayBuffer.empty[Int]
    val constant = new Array[Long](bits.words)
    var at = from
    while (at < bits.length && chosen.length < Size) {
      val place = bits.places(at)
      if (bits.isAmong(place, varying)) chosen += place else constant(place >>> 6) |= KeyBits.mask(place)
      at += 1
    }
    compile(at, constant, chosen.toArray)
  }

  private def compile(end: Int, constant: Array[Long], chosen: Array[Int]): BitPrefix = {
    val bytes = chosen.map(_ >>> 3).distinct.sorted
    val tables = new Array[Long](bytes.length << 8)
    for ((place, i) <- chosen.zipWithIndex) {
      val table = bytes.indexOf(place >>> 3) << 8
      val inByte = 0x80 >>> (place & 7)
      val inPrefix = 1L << (chosen.length - 1 - i)
      for (value <- 0 until 256 if (value & inByte) != 0) tables(table | value) |= inPrefix
    }
    new BitPrefix(end, constant, bytes.map(_ >>> 3), bytes.map(b => 56 - 8 * (b & 7)), tables)
  }
}

/**
 * The bits of a key in the order of their weight, each by its place in the words of a row: what a sort needs
 * to know of a curve. A place is `64 * word + bits from the top of that word`.
 *
 * @param places
 *   the most significant bit of the key first
 * @param bounds
 *   the words of column `i` are those from `bounds(i)` until `bounds(i + 1)`
 */
final class KeyBits private (val places: Array[Int], val bounds: Array[Int]) extends Serializable {

  /** Bits of the key. */
  def length: Int = places.length

  /** Longs that hold the words of one row. */
  val words: Int = bounds.last

  /** Whether a bit of the key from number `from` on is among some bits of the words. */
  def anyFrom(from: Int, among: Array[Long]): Boolean =
    (from until length).exists(i => isAmong(places(i), among))

  private[prefix] def isAmong(place: Int, bits: Array[Long]): Boolean =
    (bits(place >>> 6) & KeyBits.mask(place)) != 0L

  /** The comparison of the keys of two rows, from their words: -1, 0 or 1. */
  def compare(a: Array[Long], b: Array[Long]): Int = MsdOrder.compare(bounds, a, b)
}

object KeyBits {

  /** The bit of its word that a place stands for. */
  private[prefix] def mask(place: Int): Long = Long.MinValue >>> (place & 63)

  /** `zorder(...)`: level by level, and in a level the columns that still have bits, in their order. */
  def interleaved(shape: KeyShape): KeyBits = {
    val places = for {
      level <- 0 until shape.levels
      i <- 0 until shape.columns
      if level <= shape.widths(i)
    } yield 64 * shape.begin(i) + level
    new KeyBits(places.toArray, shape.bounds)
  }

  /** A finished key of this many bits, left-aligned in the words: `hilbert(...)`. */
  def sequence(bits: Int): KeyBits = new KeyBits(Array.range(0, bits), Array(0, (bits + 63) >>> 6))
}

/**
 * Which bits differ among the rows seen so far. Fed row by row; nothing is allocated.
 *
 * @param words
 *   longs that hold the words of one row
 */
final class VaryingBits(words: Int) {
  private[this] val first = new Array[Long](words)
  private[this] val seen = new Array[Long](words)
  private[this] val constant = new Array[Long](words)
  private[this] var empty = true

  /** Sees a row; false, and nothing is seen, if it differs from the others in a bit said to be constant. */
  def add(row: Array[Long]): Boolean = {
    if (empty) {
      System.arraycopy(row, 0, first, 0, words)
      empty = false
    }
    var broken = 0L
    var i = 0
    while (i < words) {
      broken |= (row(i) ^ first(i)) & constant(i)
      i += 1
    }
    if (broken != 0L) false
    else {
      i = 0
      while (i < words) {
        seen(i) |= row(i) ^ first(i)
        i += 1
      }
      true
    }
  }

  /** From now on no row may differ in the bits that `prefix` leaves out. */
  def expect(prefix: BitPrefix): Unit = System.arraycopy(prefix.constant, 0, constant, 0, words)

  /** The bits that vary, and with each bit that `row` breaks the whole byte that it is in. */
  def widenedBy(row: Array[Long]): Array[Long] = Array.tabulate(words) { i =>
    seen(i) | VaryingBits.wholeBytes((row(i) ^ first(i)) & constant(i))
  }

  /** The bits that vary among the rows seen. */
  def varying: Array[Long] = seen.clone()
}

private object VaryingBits {

  /** All bits of each byte that has one. */
  private def wholeBytes(bits: Long): Long = {
    var out = 0L
    var byte = 0xffL
    while (byte != 0L) {
      if ((bits & byte) != 0L) out |= byte
      byte <<= 8
    }
    out
  }
}

package sparkzorder.curve.prefix

import sparkzorder.curve.{KeyShape, MsdOrder}

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

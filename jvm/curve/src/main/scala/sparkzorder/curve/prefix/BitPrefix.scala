package sparkzorder.curve.prefix

import scala.collection.mutable

/**
 * Up to 64 chosen bits of a key, in the key's order, as one unsigned number: the prefix that rows are sorted
 * by. Bits that are the same in all rows need not be chosen; the order of the rows stays the key's order.
 * Evaluated by one table look-up for each byte of the words that has a chosen bit.
 *
 * @param end
 *   the first bit of the key that is neither chosen nor left out as constant; the key's length if there is none
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

package org.apache.spark.sql.zorder.stats.bloom

import java.nio.{ByteBuffer, ByteOrder}
import java.util.Arrays

/**
 * A split-block Bloom filter as Parquet has it: blocks of eight 32-bit words; a key sets one bit in each word of one
 * block. The block is the key's place among all hashes, so that filters of different sizes can be compared block by
 * block: a smaller one is a larger one with neighbouring blocks joined.
 *
 * @param words
 *   eight for each block
 */
final class SplitBlockBloom(val words: Array[Int]) {
  import SplitBlockBloom._

  def blocks: Int = words.length / WordsInBlock

  def insert(hash: Long): Unit = {
    val from = blockOf(hash, blocks) * WordsInBlock
    var i = 0
    while (i < WordsInBlock) {
      words(from + i) |= mask(hash, i)
      i += 1
    }
  }

  def mayContain(hash: Long): Boolean = {
    val from = blockOf(hash, blocks) * WordsInBlock
    var i = 0
    while (i < WordsInBlock && (words(from + i) & mask(hash, i)) != 0) i += 1
    i == WordsInBlock
  }

  /** The share of keys that are not in the filter and yet look as if they were, counted from its bits. */
  def rate: Double = {
    var sum = 0.0
    var b = 0
    while (b < blocks) {
      var full = 1.0
      var i = 0
      while (i < WordsInBlock) {
        full *= Integer.bitCount(words(b * WordsInBlock + i)) / 32.0
        i += 1
      }
      sum += full
      b += 1
    }
    sum / blocks
  }

  /** The filter of the same keys with fewer blocks, whose number divides that of this one. */
  def folded(fewer: Int): SplitBlockBloom = {
    require(fewer > 0 && blocks % fewer == 0, s"$blocks blocks cannot be folded to $fewer")
    val times = blocks / fewer
    val out = new Array[Int](fewer * WordsInBlock)
    words.indices.foreach { w =>
      val at = w / WordsInBlock / times * WordsInBlock + w % WordsInBlock
      out(at) |= words(w)
    }
    new SplitBlockBloom(out)
  }

  /** The filter of the keys of both, which have equally many blocks. */
  def or(that: SplitBlockBloom): SplitBlockBloom = {
    require(blocks == that.blocks, s"$blocks blocks are not ${that.blocks}")
    new SplitBlockBloom(Array.tabulate(words.length)(i => words(i) | that.words(i)))
  }

  /** The smallest filter that has at most this rate of false positives. */
  def smallest(most: Double): SplitBlockBloom =
    if (blocks % 2 != 0) this
    else {
      val half = folded(blocks / 2)
      if (half.rate > most) this else half.smallest(most)
    }
}

object SplitBlockBloom {
  val WordsInBlock = 8
  val BytesInBlock: Int = WordsInBlock * 4

  /** Bits for each key: about one absent key of a thousand is a false positive. */
  val BitsPerKey = 15

  /** A filter with more false positives than this excludes too few files to be kept. */
  val MostRate = 0.01

  /** What a filter with that many bits has at most. One that has fewer can be smaller. */
  val UsualRate = 0.002

  private val Salt = Array(0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947,
    0x5c6bfb31)

  def blockOf(hash: Long, blocks: Int): Int = (((hash >>> 32) * blocks) >>> 32).toInt

  /** The bit of word number `word` in the key's block. */
  def mask(hash: Long, word: Int): Int = 1 << ((hash.toInt * Salt(word)) >>> 27)

  def empty(blocks: Int): SplitBlockBloom = new SplitBlockBloom(new Array[Int](blocks * WordsInBlock))

  /** A filter of the given hashes, which must be distinct. */
  def of(hashes: Array[Long], count: Int): SplitBlockBloom = {
    val bloom = empty(blocksFor(count.toLong))
    var i = 0
    while (i < count) {
      bloom.insert(hashes(i))
      i += 1
    }
    bloom
  }

  /** Reads a filter from the bytes that Parquet stores. */
  def of(bytes: Array[Byte]): SplitBlockBloom = {
    val words = new Array[Int](bytes.length / 4)
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer().get(words)
    new SplitBlockBloom(words)
  }

  /**
   * The number of blocks for so many keys, one of eight sizes between two powers of two: files of nearly the same
   * number of keys shall have filters of the same size.
   */
  def blocksFor(keys: Long): Int = {
    val needed = math.max(1L, (keys * BitsPerKey + BytesInBlock * 8 - 1) / (BytesInBlock * 8))
    val step = math.max(1L, java.lang.Long.highestOneBit(needed) / 8)
    math.min((needed + step - 1) / step * step, (Int.MaxValue / BytesInBlock).toLong).toInt
  }
}

/**
 * Makes a filter of hashes that come again any number of times. Up to a million distinct ones are kept, so that the
 * filter gets the size that they need; of more, a filter as large as all values may need, which is made smaller
 * afterwards if many were equal. So a task needs 16 MB, or two bytes a value.
 *
 * @param values
 *   how many hashes there will be at most
 */
final private[bloom] class BloomOfHashes(values: Long) {
  import BloomOfHashes._

  private var hashes = new Array[Long](1 << 12)
  private var count = 0
  private var large: SplitBlockBloom = _

  def add(hash: Long): Unit =
    if (large != null) large.insert(hash)
    else {
      if (count == hashes.length) compact()
      if (large != null) large.insert(hash)
      else {
        hashes(count) = hash
        count += 1
      }
    }

  /** None if there were too many distinct values for a filter that excludes files. */
  def result(): Option[SplitBlockBloom] =
    if (large == null) {
      sort()
      Some(SplitBlockBloom.of(hashes, count))
    } else if (large.rate > SplitBlockBloom.MostRate) None
    else Some(large.smallest(SplitBlockBloom.UsualRate))

  private def compact(): Unit = {
    sort()
    if (count >= MostExact) {
      large = SplitBlockBloom.empty(SplitBlockBloom.blocksFor(math.min(values, MostKeys)))
      (0 until count).foreach(i => large.insert(hashes(i)))
      hashes = Array.emptyLongArray
    } else if (count > hashes.length / 2) hashes = Arrays.copyOf(hashes, hashes.length * 2)
  }

  private def sort(): Unit = {
    Arrays.sort(hashes, 0, count)
    var kept = 0
    var i = 0
    while (i < count) {
      if (kept == 0 || hashes(i) != hashes(kept - 1)) {
        hashes(kept) = hashes(i)
        kept += 1
      }
      i += 1
    }
    count = kept
  }
}

private[zorder] object BloomOfHashes {

  /** The largest filter is one for so many keys, 30 MB. */
  val MostKeys: Long = 1L << 24

  private val MostExact = 1 << 20
}

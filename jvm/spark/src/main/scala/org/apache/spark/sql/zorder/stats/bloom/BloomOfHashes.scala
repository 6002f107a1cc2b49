package org.apache.spark.sql.zorder.stats.bloom

import java.util.Arrays

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

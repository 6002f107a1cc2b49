package org.apache.spark.sql.zorder.stats.bloom

import java.util.Arrays

/** Hashes, each kept once, up to a limit: 8 bytes each, where a set of objects would take 50. */
final private[bloom] class DistinctHashes(most: Int) {
  private var hashes = new Array[Long](1 << 12)
  private var count = 0
  private var tooMany = false

  /** Whether there were more than the limit: nothing is kept then. */
  def overflown: Boolean = tooMany

  def add(hash: Long): Unit =
    if (!tooMany) {
      if (count == hashes.length) compact()
      if (!tooMany) {
        hashes(count) = hash
        count += 1
      }
    }

  /** The filter of all that was added. */
  def bloom(): SplitBlockBloom = {
    sort()
    SplitBlockBloom.of(hashes, count)
  }

  private def compact(): Unit = {
    sort()
    if (count > most) {
      tooMany = true
      hashes = Array.emptyLongArray
      count = 0
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

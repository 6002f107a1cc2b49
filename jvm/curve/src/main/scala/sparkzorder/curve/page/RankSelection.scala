package sparkzorder.curve.page

/** Finds the n-th of many ranks without sorting them, in time that no order of the ranks makes longer. */
final private[page] class RankSelection {
  private[this] val buckets = new Array[Int](RankSelection.Buckets)

  /**
   * The rank that would be at place `n` if the first `count` of them were sorted.
   *
   * @param ranks
   *   not negative; overwritten
   */
  def nth(ranks: Array[Int], count: Int, n: Int): Int = {
    var size = count
    var place = n
    var low = 0
    var high = 0
    var found = false
    while (!found) {
      low = ranks(0)
      high = low
      var i = 1
      while (i < size) {
        low = math.min(low, ranks(i))
        high = math.max(high, ranks(i))
        i += 1
      }
      if (low == high) found = true
      else if (size <= RankSelection.Few) {
        java.util.Arrays.sort(ranks, 0, size)
        low = ranks(place)
        found = true
      } else {
        val shift = math.max(0, 32 - RankSelection.Bits - Integer.numberOfLeadingZeros(high - low))
        val bucket = bucketOf(ranks, size, low, shift, place)
        place -= below(bucket)
        size = keep(ranks, size, low, shift, bucket)
      }
    }
    low
  }

  /** The bucket that holds the rank at `place`; leaves the sizes of all in `buckets`. */
  private def bucketOf(ranks: Array[Int], size: Int, low: Int, shift: Int, place: Int): Int = {
    java.util.Arrays.fill(buckets, 0)
    var i = 0
    while (i < size) {
      buckets((ranks(i) - low) >>> shift) += 1
      i += 1
    }
    var bucket = 0
    var until = buckets(0)
    while (until <= place) {
      bucket += 1
      until += buckets(bucket)
    }
    bucket
  }

  private def below(bucket: Int): Int = {
    var sum = 0
    var b = 0
    while (b < bucket) {
      sum += buckets(b)
      b += 1
    }
    sum
  }

  private def keep(ranks: Array[Int], size: Int, low: Int, shift: Int, bucket: Int): Int = {
    var kept = 0
    var i = 0
    while (i < size) {
      val rank = ranks(i)
      if ((rank - low) >>> shift == bucket) {
        ranks(kept) = rank
        kept += 1
      }
      i += 1
    }
    kept
  }
}

private object RankSelection {
  // scalafix:off DisableSyntax
  // final: the compiler folds it into the loops
  final val Bits = 11
  // scalafix:on DisableSyntax
  val Buckets: Int = 1 << Bits

  /** So few ranks are sorted sooner than counted. */
  val Few = 64
}

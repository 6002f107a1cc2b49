package sparkzorder.curve.cost

/**
 * What a block gains by holding NULLs beside values. The cost of a row in a block of its own kind (the same
 * columns NULL) is not a bound where kinds share a block: NULLs fill it and cost no look-up. So each kind of
 * row is given a price, and all prices are lowered until no block whatever its mixture costs less than its
 * rows are priced at; then the mean price is a bound (duality of linear programs).
 *
 * @param cap
 *   a row with NULLs is priced at most so many times a row without
 * @param scale
 *   by which all prices are lowered
 */
final private[cost] case class NullMixing(cap: Double, scale: Double)

private[cost] object NullMixing {
  private val None = NullMixing(1.0, 1.0)
  private val Caps = Seq(0.0, 0.25, 0.5, 0.75, 1.0, 1.5, 2.5, 1e9)
  private val Steps = Seq(2.0, 1.25, 1.05)

  /** With more columns that hold NULLs than this, only rows without NULL are priced. */
  private val MostColumns = 6

  /**
   * @param nullShare
   *   share of NULLs in each column
   * @param cost
   *   cost of a row in a block of its kind, by the columns in which it is NULL
   */
  def of(nullShare: Array[Double], blocks: Double, cost: Set[Int] => Double): NullMixing = {
    val some = nullShare.indices.filter(c => nullShare(c) > 0 && nullShare(c) < 1)
    if (some.isEmpty) None
    else if (some.length > MostColumns) NullMixing(0.0, 1.0)
    else {
      val kinds = some.toSet.subsets().toArray
      val costs = kinds.map(cost)
      val full = cost(Set.empty)
      val share = kinds.map(k => some.map(c => if (k(c)) nullShare(c) else 1 - nullShare(c)).product)
      Caps.map { cap =>
        val prices = kinds.indices.map(k => if (kinds(k).isEmpty) full else math.min(costs(k), cap * full)).toArray
        val mixing = NullMixing(cap, math.min(1.0, leastRatio(nullShare, kinds, prices, 1.0 / blocks)))
        (mixing, mixing.scale * share.indices.map(k => share(k) * prices(k)).sum)
      }.maxBy(_._2)._1
    }
  }

  /** The least cost of a block over the price of the dearest rows that it can hold, over all boxes. */
  private def leastRatio(
      nullShare: Array[Double],
      kinds: Array[Set[Int]],
      prices: Array[Double],
      volume: Double): Double = {
    val dearest = kinds.indices.sortBy(k => -prices(k)).toArray
    val used = nullShare.indices.filter(nullShare(_) < 1).toArray
    // box(c): the covered share of the column's values
    def ratio(box: Array[Double]): Double = {
      var room = volume
      var worth = 0.0
      dearest.foreach { k =>
        var held = 1.0
        used.foreach(c => held *= (if (kinds(k)(c)) nullShare(c) else box(c) * (1 - nullShare(c))))
        val taken = math.min(room, held)
        worth += taken * prices(k)
        room -= taken
      }
      if (room > 1e-9 * volume || worth == 0.0) Double.PositiveInfinity else volume * used.map(box(_)).sum / worth
    }
    (0 to 24).map { k =>
      val box = Array.fill(nullShare.length)(math.pow(2, -k / 2.0))
      var best = ratio(box)
      for (step <- Steps; _ <- 0 until 12; c <- used; factor <- Seq(step, 1 / step)) {
        val before = box(c)
        box(c) = math.min(1.0, before * factor)
        val next = ratio(box)
        if (next < best) best = next else box(c) = before
      }
      best
    }.min
  }
}

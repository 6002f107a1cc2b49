package sparkzorder.curve.build.cut

import scala.collection.mutable.ArrayBuffer

import sparkzorder.curve.Evenly
import sparkzorder.curve.cost.RankQueries

/**
 * The least that any layout reads of columns that depend on each other: a block that holds a row is a box
 * around it with as many rows as other blocks, so it reads no less than the cheapest such box does. The mean
 * over the rows is a bound; it leaves open whether such boxes fit beside each other.
 *
 * The cheapest box is searched, not proved: rows near a row, with sides in the proportions that cost least,
 * by doubling and halving one at a time.
 *
 * @param blocks
 *   number of files, row groups or pages
 * @param tried
 *   rows around which boxes are searched
 */
final class DenseRanges(sample: RankedSample, blocks: Double, tried: Int) {
  import DenseRanges._

  private[this] val size =
    math.max(1, math.min(sample.rows, math.round(sample.rows / math.max(1.0, blocks)).toInt))
  private[this] val centres = Evenly.places(math.min(tried, sample.rows), sample.rows)

  /** For each column the share of the rows that look-ups of its values read; their mean is the bound. */
  def lookUps: IndexedSeq[Double] = {
    def covers(box: RankExtents) = (0 until sample.columns).map(box.cover(sample, _))
    val least = cheapest(box => covers(box).sum).map(covers)
    (0 until sample.columns).map(c => least.map(_(c)).sum / math.max(1, least.length))
  }

  /** The mean share that queries read. */
  def queries(asked: RankQueries): Double = {
    def cost(box: RankExtents): Double = {
      var sum = 0.0
      var q = 0
      while (q < asked.size) {
        if (asked.touches(q, box.low, box.high, box.holdsNull)) sum += asked.weights(q)
        q += 1
      }
      sum / asked.weight
    }
    val least = cheapest(cost).map(cost)
    least.sum / math.max(1, least.length)
  }

  /** For each of some rows, evenly taken, the cheapest box with the row in it. */
  private def cheapest(cost: RankExtents => Double): IndexedSeq[RankExtents] = {
    val boxes = ArrayBuffer.empty[(RankExtents, Double)]
    centres.foreach(search(_, cost, boxes))
    val sorted = boxes.sortBy(_._2)
    centres.toIndexedSeq.flatMap(row => sorted.find { case (box, _) => holds(box, row) }.map(_._1))
  }

  /** Adds the boxes around a row that are tried. */
  private def search(
      centre: Int,
      cost: RankExtents => Double,
      boxes: ArrayBuffer[(RankExtents, Double)]): Unit = {
    def take(sides: Array[Int]): Double = {
      val box = around(centre, sides)
      boxes += ((box, cost(box)))
      boxes.last._2
    }
    var sides = new Array[Int](sample.columns)
    var least = take(sides)
    var round = 0
    var better = true
    while (better && round < Rounds && sample.columns > 1) {
      better = false
      for (c <- sides.indices; step <- Seq(1, -1) if math.abs(sides(c) + step) <= Rounds) {
        val other = sides.updated(c, sides(c) + step)
        val otherCost = take(other)
        if (otherCost < Clearly * least) {
          sides = other
          least = otherCost
          better = true
        }
      }
      round += 1
    }
  }

  /** The rows nearest to one, as many as a block has, where column c counts 2^-sides(c). */
  private def around(centre: Int, sides: Array[Int]): RankExtents = {
    val far = new Array[Int](sample.rows)
    var c = 0
    while (c < sides.length) {
      val ranks = sample.ranks(c)
      val at = ranks(centre)
      val factor = math.pow(2, -sides(c))
      var i = 0
      while (i < far.length) {
        // NULL widens no block, but there are not enough of them for every block
        val distance =
          if ((at == 0) != (ranks(i) == 0)) Farthest else math.min(Farthest, math.abs(ranks(i) - at) * factor)
        if (distance > far(i)) far(i) = distance.toInt
        i += 1
      }
      c += 1
    }
    val border = RankSort.ascending(far.clone())(size - 1)
    val box = new RankExtents(sample.columns)
    var i = 0
    while (i < far.length) {
      if (far(i) <= border) {
        c = 0
        while (c < sides.length) {
          box.add(c, sample.ranks(c)(i))
          c += 1
        }
      }
      i += 1
    }
    box
  }

  private def holds(box: RankExtents, row: Int): Boolean =
    (0 until sample.columns).forall { c =>
      val rank = sample.ranks(c)(row)
      if (rank == 0) box.holdsNull(c) else box.low(c) <= rank && rank <= box.high(c)
    }
}

object DenseRanges {

  /** Sides are in proportions of up to 2^Rounds. */
  private val Rounds = 10

  private val Clearly = 0.999
  private val Farthest = ((1 << 30) - 1).toDouble
}

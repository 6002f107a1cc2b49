package org.apache.spark.sql.zorder.stats.measure

import scala.collection.immutable.TreeMap

import sparkzorder.curve.Evenly

/**
 * How many blocks lie over one another.
 *
 * @param constant
 *   blocks of one value, or of none
 * @param overlaps
 *   sum over the blocks of the other blocks that each one meets
 * @param counts
 *   depth -> number of blocks that have it
 * @param error
 *   standard error of the average depth; 0.0 where every block was measured
 */
final private[zorder] case class Depths(
    constant: Long,
    overlaps: Double,
    counts: TreeMap[Int, Long],
    error: Double) {
  val blocks: Long = counts.valuesIterator.sum

  def averageOverlaps: Option[Double] = average(overlaps)

  def average: Option[Double] = average(counts.iterator.map { case (d, n) => d.toDouble * n.toDouble }.sum)

  def p95: Option[Long] = {
    val least = (95 * blocks + 99) / 100
    var seen = 0L
    counts.iterator.find { case (_, n) => seen += n; seen >= least }.map(_._1.toLong)
  }

  def max: Option[Long] = counts.lastOption.map(_._1.toLong)

  /** Numbers of blocks by Snowflake's buckets, without gaps. */
  def histogram: Seq[(String, Long)] = {
    val found = counts.toSeq.groupBy(c => Depths.bucket(c._1)).map { case (b, same) =>
      b -> same.map(_._2).sum
    }
    val last = counts.lastOption.fold(0)(c => Depths.bucket(c._1))
    Depths.buckets.takeWhile(_ <= last).map(b => f"$b%05d" -> found.getOrElse(b, 0L)).toSeq
  }

  /** Adds the depths of two sets of blocks that never overlap. */
  def ++(that: Depths): Depths = {
    val sum = that.counts.foldLeft(counts) { case (all, (d, n)) => all.updated(d, all.getOrElse(d, 0L) + n) }
    val all = (blocks + that.blocks).toDouble
    val error =
      if (all == 0.0) 0.0
      else math.sqrt(math.pow(blocks * this.error, 2) + math.pow(that.blocks * that.error, 2)) / all
    Depths(constant + that.constant, overlaps + that.overlaps, sum, error)
  }

  private def average(sum: Double): Option[Double] = if (blocks == 0) None else Some(sum / blocks)
}

private[zorder] object Depths {
  val none: Depths = Depths(0, 0.0, TreeMap.empty, 0.0)

  /** Up to this depth each has a bucket of its own. */
  private val Single = 16

  /** @param weights of the measured blocks, each standing for so many */
  def of(
      constant: Long,
      overlaps: Double,
      depths: Array[Int],
      weights: Int => Long,
      error: Double): Depths = {
    val counts = new java.util.TreeMap[Int, Long]()
    depths.indices.foreach(i => counts.merge(depths(i), weights(i), (a, b) => a + b))
    val built = TreeMap.newBuilder[Int, Long]
    counts.forEach((d, n) => { val _ = built += d -> n })
    Depths(constant, overlaps, built.result(), error)
  }

  private def bucket(depth: Int): Int =
    if (depth <= Single) depth
    else if (Integer.bitCount(depth) == 1) depth else Integer.highestOneBit(depth) << 1

  private def buckets: Iterator[Int] =
    (1 to Single).iterator ++ Iterator.iterate(2 * Single)(_ * 2).takeWhile(_ > 0)
}

/** Depth in one dimension, exact, in O(n log n): a sweep over the bounds and a table of greatest covers. */
private[zorder] object ColumnDepth {

  def of(column: RankedColumn): Depths = {
    val n = column.blocks
    val known = (0 until n).count(column.isKnown)
    val unknown = (0 until n).count(column.isUnknown)
    val (begun, ended) = cumulated(column)
    val cover = new RangeMaximum(Array.tabulate(column.scale.size)(r => begun(r + 1) - ended(r)))
    val everywhere = if (known == 0) 0 else cover.of(0, column.scale.size - 1)
    val depths = new Array[Int](n)
    var overlaps = 0.0
    var constant = 0L
    var b = 0
    while (b < n) {
      if (column.isKnown(b)) {
        depths(b) = unknown + cover.of(column.low(b), column.high(b))
        overlaps += unknown + begun(column.high(b) + 1) - ended(column.low(b)) - 1
      } else if (column.isUnknown(b)) {
        depths(b) = unknown + everywhere
        overlaps += unknown - 1 + known
      } else depths(b) = 1
      if (column.isConstant(b)) constant += 1
      b += 1
    }
    Depths.of(constant, overlaps, depths, _ => 1L, 0.0)
  }

  /** How many known blocks begin, and how many end, below each rank. */
  private def cumulated(column: RankedColumn): (Array[Int], Array[Int]) = {
    val begun = new Array[Int](column.scale.size + 1)
    val ended = new Array[Int](column.scale.size + 1)
    var b = 0
    while (b < column.blocks) {
      if (column.isKnown(b)) {
        begun(column.low(b) + 1) += 1
        ended(column.high(b) + 1) += 1
      }
      b += 1
    }
    var r = 1
    while (r < begun.length) {
      begun(r) += begun(r - 1)
      ended(r) += ended(r - 1)
      r += 1
    }
    (begun, ended)
  }
}

/** The greatest of any run of numbers, in constant time after O(n log n): maxima of all runs of 2^k numbers. */
final private class RangeMaximum(values: Array[Int]) {
  private val runs: Array[Array[Int]] = {
    val levels = if (values.isEmpty) 1 else 32 - Integer.numberOfLeadingZeros(values.length)
    val all = new Array[Array[Int]](levels)
    all(0) = values
    var k = 1
    while (k < levels) {
      val half = 1 << (k - 1)
      val below = all(k - 1)
      all(k) = Array.tabulate(values.length - (1 << k) + 1)(i => math.max(below(i), below(i + half)))
      k += 1
    }
    all
  }

  /** Both ends included. */
  def of(from: Int, to: Int): Int = {
    val k = 31 - Integer.numberOfLeadingZeros(to - from + 1)
    math.max(runs(k)(from), runs(k)(to - (1 << k) + 1))
  }
}

/**
 * Depth in several dimensions at the middles of some blocks, evenly taken: the greatest depth inside a block
 * would take time that grows with the power of the number of columns.
 *
 * @param columns
 *   of the same blocks
 */
final private[zorder] class MeasuredBlocks(columns: IndexedSeq[RankedColumn]) {
  private val n = columns.headOption.fold(0)(_.blocks)
  private val lows = columns.map(c => Array.tabulate(n)(c.lowPosition)).toArray
  private val highs = columns.map(c => Array.tabulate(n)(c.highPosition)).toArray
  private val empty = Array.tabulate(n)(b => columns.exists(_.isOnlyNull(b)))

  /** How many blocks are measured. */
  val size: Int = math.min(n, MeasuredBlocks.Most)

  def block(i: Int): Int = Evenly.place(i, size, n)

  /** Number of blocks that a measured one stands for. */
  def weight(i: Int): Long = (block(i + 1) - block(i)).toLong

  /** The middle of a measured block, as a position of the column. */
  def middle(i: Int, column: Int): Int = columns(column).middle(block(i))

  def depths: Depths = {
    val found = new Array[Int](size)
    val met = new Array[Int](size)
    // each block is compared with all others, by all cores of the driver
    java.util.stream.IntStream.range(0, size).parallel().forEach(i => count(i, found, met))
    val overlaps = (0 until size).iterator.map(i => weight(i).toDouble * met(i)).sum
    val constant = (0 until n).count(b => columns.forall(_.isConstant(b)))
    Depths.of(constant.toLong, overlaps, found, weight, error(found))
  }

  /** How many blocks hold the middle of a measured one, and how many others meet it. */
  private def count(i: Int, found: Array[Int], met: Array[Int]): Unit =
    if (empty(block(i))) found(i) = 1
    else {
      val d = lows.length
      val point = Array.tabulate(d)(middle(i, _))
      val low = lows.map(_(block(i)))
      val high = highs.map(_(block(i)))
      var holding = 0
      var meeting = 0
      var b = 0
      while (b < n) {
        var c = 0
        while (c < d && lows(c)(b) <= high(c) && highs(c)(b) >= low(c)) c += 1
        if (c == d && !empty(b)) {
          meeting += 1
          c = 0
          while (c < d && lows(c)(b) <= point(c) && highs(c)(b) >= point(c)) c += 1
          if (c == d) holding += 1
        }
        b += 1
      }
      found(i) = holding
      met(i) = meeting - 1
    }

  private def error(depths: Array[Int]): Double =
    if (size == n) 0.0
    else {
      val mean = depths.iterator.map(_.toDouble).sum / size
      val squares = depths.iterator.map(d => (d - mean) * (d - mean)).sum
      math.sqrt(squares / (size - 1) / size * (1.0 - size.toDouble / n))
    }
}

private[zorder] object MeasuredBlocks {

  /** The error of the average is below a thirtieth of the spread. */
  val Most = 1000
}

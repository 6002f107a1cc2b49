package org.apache.spark.sql.zorder.audit.measure

import scala.collection.immutable.TreeMap

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
final private[audit] case class Depths(
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

  /** Of two sets of blocks that never meet. */
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

private[audit] object Depths {
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

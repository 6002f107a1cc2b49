package org.apache.spark.sql.zorder.skip.bloom

import org.apache.spark.sql.zorder.stats.bloom.{BloomKey, SplitBlockBloom}

/**
 * Filters of one column that lie together, block by block: for each number of a block, that block of every file, one
 * file after the other, and a checksum of these. So one piece of the segment answers for all its files.
 *
 * @param file
 *   name of the file that holds it, beside the index
 * @param blocks
 *   that each filter has
 * @param files
 *   for each place in a row the number that the index gives the file; [[BloomSegment.Gone]] if it has none any more
 */
final case class BloomSegment(file: String, offset: Long, blocks: Int, key: BloomKey, files: Array[Int]) {
  def rowBytes: Int = files.length * SplitBlockBloom.BytesInBlock + BloomSegment.SumBytes

  def bytes: Long = rowBytes.toLong * blocks

  def live: Int = files.count(_ != BloomSegment.Gone)

  def rowAt(block: Int): Long = offset + block.toLong * rowBytes

  /** With other numbers for the files. */
  def renumbered(number: Int => Int): BloomSegment =
    copy(files = files.map(f => if (f == BloomSegment.Gone) f else number(f)))
}

object BloomSegment {
  val Gone: Int = -1
  private[bloom] val SumBytes = 4
}

/**
 * All that an index says of the filters of one column.
 *
 * @param without
 *   numbers of the files that can have none
 */
final case class ColumnSegments(segments: Seq[BloomSegment], without: Array[Int]) {

  /** The files whose filters need not be made. */
  def done: Iterator[Int] = segments.iterator.flatMap(_.files).filter(_ != BloomSegment.Gone) ++ without

  def bytes: Long = segments.map(_.bytes).sum

  def filters: Int = segments.map(_.live).sum
}

object ColumnSegments {
  val Empty: ColumnSegments = ColumnSegments(Nil, Array.emptyIntArray)
}

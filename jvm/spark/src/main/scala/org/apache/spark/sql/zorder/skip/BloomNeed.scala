package org.apache.spark.sql.zorder.skip

import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.stats.StatColumn
import org.apache.spark.sql.zorder.stats.bloom.{BloomOfHashes, SplitBlockBloom}
import org.apache.spark.sql.zorder.table.file.DataFile

/** A file that has no filter yet, by its number in the index, and the columns that want one, by theirs. */
final private[skip] case class Unfiltered(number: Int, file: DataFile, columns: Seq[(Int, StatColumn)])

/** How many bytes filters will have, told before any data is read. */
private[skip] object BloomNeed {

  /** So many files tell how often values come again. */
  private val Looked = 8

  /** If no value comes twice. */
  def atMost(index: StatisticsIndex, file: Unfiltered): Long = file.columns.map { case (c, _) =>
    val nulls = index.rangesAt(c).fold(0L)(r => math.max(0L, r.nulls(file.number)))
    val values = math.max(0L, index.files.rows(file.number) - nulls)
    SplitBlockBloom.blocksFor(math.min(
      values,
      BloomOfHashes.MostKeys)).toLong * SplitBlockBloom.BytesInBlock
  }.sum

  /**
   * As much as the filters of a few files, evenly spaced, lead to expect.
   *
   * @param made
   *   the bytes of the filters of some files
   */
  def estimated(index: StatisticsIndex, files: Seq[Unfiltered])(made: Seq[Unfiltered] => Long): Long = {
    val n = math.min(Looked, files.length)
    val some = (0 until n).map(i => files((i.toLong * files.length / n).toInt))
    val all = files.map(atMost(index, _)).sum
    val ofSome = some.map(atMost(index, _)).sum
    if (ofSome == 0) all else math.ceil(all.toDouble * made(some) / ofSome).toLong
  }

  /** In lots that the driver can hold the filters of. */
  def lots(index: StatisticsIndex, files: Seq[Unfiltered]): Seq[Seq[Unfiltered]] = {
    val most = math.max(64L << 20, math.min(256L << 20, Runtime.getRuntime.maxMemory / 8))
    val before = files.scanLeft(0L)((sum, f) => sum + atMost(index, f))
    files.zip(before).groupBy(_._2 / most).toSeq.sortBy(_._1).map(_._2.map(_._1))
  }
}

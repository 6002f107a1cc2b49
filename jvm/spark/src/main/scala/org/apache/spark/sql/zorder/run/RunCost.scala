package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.FileFooter
import org.apache.spark.sql.zorder.table.InputRelation

/**
 * What a run will need, told before it starts.
 *
 * @param bytesToRead
 *   the files once, and the sampled columns once more; with `verify = 'checksum'` the files twice more
 * @param bytesToShuffle
 *   an estimate to within a factor of two: rows times the width of one in Spark's row format, less what LZ4
 *   finds to leave out of neighbouring rows, which are the bytes that are alike in the least and the greatest
 *   value of a column; without that where `spark.shuffle.compress` is off
 * @param localDiskBytes
 *   of all executors together: the shuffle files, and as much again for spills that are merged into them
 */
final case class RunCost(bytesToRead: Long = 0, bytesToShuffle: Long = 0, localDiskBytes: Long = 0) {

  /** Of two batches one after the other, whose shuffle files may both be there. */
  def and(later: RunCost): RunCost = RunCost(
    bytesToRead + later.bytesToRead,
    bytesToShuffle + later.bytesToShuffle,
    localDiskBytes + later.localDiskBytes)
}

private[run] object RunCost {
  def of(
      session: ClassicSession,
      source: InputRelation,
      footers: Seq[FileFooter],
      tracked: Tracked,
      statistics: RunStatistics,
      options: RunOptions): RunCost = {
    val files = footers.map(_.file.length).sum
    val sampled = (tracked.all.flatMap(_.path) ++ tracked.statColumns.map(_.path)).toSet
    val scans = if (options.verify == "checksum") 3 else 1
    val zones =
      statistics.columns.indices.map(c => statistics.columns(c).path -> footers.map(_.zone(c))).toMap
    val rows = footers.map(_.rows).sum
    val packed = session.sparkContext.getConf.getBoolean("spark.shuffle.compress", defaultValue = true)
    val row = new RowBytes(zones, leafBytes(footers, _) / math.max(1L, rows), packed)
    val shuffle = math.round(rows * row.of(source.output.map(a => (a.name, a.dataType))))
    RunCost(scans * files + leafBytes(footers, sampled), shuffle, 2 * shuffle)
  }

  /** Compressed bytes of the columns for which the test holds. */
  private def leafBytes(footers: Seq[FileFooter], wanted: Seq[String] => Boolean): Long = footers.map { f =>
    f.schema.leaves.indices.filter(l => wanted(f.schema.leaves(l).column)).map(f.bytes(_)).sum
  }.sum
}

package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.run.inspect.{RunStatistics, TrackedColumns}
import org.apache.spark.sql.zorder.run.report.RunCost
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.FileFooter
import org.apache.spark.sql.zorder.table.file.InputRelation

/** What a rewrite of some files will read, shuffle and keep on local disks, from their footers. */
private[run] object CostForecast {
  def of(
      session: ClassicSession,
      source: InputRelation,
      footers: Seq[FileFooter],
      tracked: TrackedColumns,
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

package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}

/** One partition with the number of files it becomes. */
final case class SizedPartition(partition: PinnedPartition, files: Int)

/**
 * Which partitions are clustered and into how many files.
 *
 * @param target
 *   bytes of a file
 * @param tooSmall
 *   the reason of the result if there are none
 * @param count
 *   a note on the number of files, which ends the reason of the result
 */
final case class FilePlan(
    partitions: IndexedSeq[SizedPartition],
    target: Long,
    tooSmall: String,
    count: String = "") {
  def files: Seq[DataFile] = partitions.flatMap(_.partition.files)
  def outputFiles: Int = partitions.map(_.files).sum
}

object FilePlan {

  /**
   * Whether a run leaves a partition alone because it is small.
   *
   * @param tableBytes
   *   of all partitions
   */
  def leavesAlone(bytes: Long, tableBytes: Long, rows: Long, options: RunOptions): Boolean =
    !options.force && !FileCount.isAsked(options) &&
      FileCount.of(bytes, FileCount.target(tableBytes, None), options, rows) < FileCount.TooSmall

  /**
   * Partitions of fewer than four target files are left alone, unless the statement gives a number or a size
   * of files or says `force` or `FULL`: there is next to nothing to skip in them. A copy has all of them if it has
   * any.
   *
   * @param rows
   *   of a partition
   */
  def apply(
      partitions: IndexedSeq[PinnedPartition],
      partitioned: Boolean,
      options: RunOptions,
      copy: Boolean,
      full: Boolean,
      rows: PinnedPartition => Long): FilePlan = {
    val bytes = partitions.map(_.bytes).sum
    val target = FileCount.target(bytes, options.targetFileSize)
    val sized = partitions.map(p => SizedPartition(p, FileCount.of(p.bytes, target, options, rows(p))))
    val large = sized.filter(_.files >= FileCount.TooSmall)
    val all = full || options.force || FileCount.isAsked(options) || copy && large.nonEmpty
    val kept = if (all) sized else large
    val what = if (partitioned) "Every partition" else s"The table (${HumanReadable.bytes(bytes)})"
    FilePlan(
      kept,
      target,
      s"$what is smaller than ${FileCount.TooSmall} files of ${HumanReadable.bytes(target)}: there is next to nothing to " +
        "skip. FULL, WITH (fileCount = 16) or WITH (force = true) does it all the same.")
  }
}

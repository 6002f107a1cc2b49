package org.apache.spark.sql.zorder.clustering.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.clustering.report.HumanReadable
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.table.file.{DataFile, PinnedPartition}

/** One partition with the number of files it becomes. */
final case class SizedPartition(partition: PinnedPartition, files: Int)

/**
 * Which partitions are clustered and into how many files.
 *
 * @param target
 *   bytes of a file, where these decide on its number
 * @param countNote
 *   a note on the number of files, which ends the reason of the result
 */
final case class FilePlan(
    partitions: IndexedSeq[SizedPartition],
    target: Long = 0L,
    countNote: String = "") {
  def files: Seq[DataFile] = partitions.flatMap(_.partition.files)
  def outputFiles: Int = partitions.map(_.files).sum
}

object FilePlan {

  /**
   * The factor by which the bytes of a growing partition are multiplied before its files are counted: it grows by
   * about that until it is written anew (ADR 71).
   */
  private val Ahead = math.sqrt(2)

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
   * of files or says `force` or `FULL`: there is next to nothing to skip in them. A copy has all of them if
   * it has any.
   *
   * @param tableBytes
   *   of all files of the table, or of the copy: they decide the size of files, whichever partitions are taken
   * @param rows
   *   of a partition
   * @param grown
   *   the directories of partitions that have outgrown a layout. They will grow on until they are written
   *   anew again: each gets the files of a larger one.
   */
  def apply(
      partitions: IndexedSeq[PinnedPartition],
      tableBytes: Long,
      options: RunOptions,
      copy: Boolean,
      full: Boolean,
      rows: PinnedPartition => Long,
      grown: Set[String]): FilePlan = {
    def bytes(p: PinnedPartition): Long = if (grown(p.directory)) (p.bytes * Ahead).toLong else p.bytes
    val ahead = partitions.map(p => bytes(p) - p.bytes).sum
    val target = FileCount.target(tableBytes + ahead, options.targetFileSize)
    val sized = partitions.map(p => SizedPartition(p, FileCount.of(bytes(p), target, options, rows(p))))
    val large = sized.filter(_.files >= FileCount.TooSmall)
    val all = full || options.force || FileCount.isAsked(options) || copy && large.nonEmpty
    FilePlan(if (all) sized else large, target)
  }

  /**
   * The reason of the result if all of these partitions are left alone.
   *
   * @param tableBytes
   *   of all files of the table, these and others
   */
  def tooSmall(
      partitions: Seq[PinnedPartition],
      partitioned: Boolean,
      tableBytes: Long,
      target: Long): String = {
    val sum = partitions.map(_.bytes).sum
    val bytes = HumanReadable.bytes(sum)
    val what =
      if (partitioned) "No partition fills"
      else if (sum < tableBytes) s"The files ($bytes) do not fill"
      else s"The table ($bytes) does not fill"
    val each = if (partitions.length > 1) ", which is per partition," else ""
    s"$what ${FileCount.TooSmall} files of ${HumanReadable.bytes(target)}, and Spark reads so little quickly " +
      s"in any order. FULL, WITH (fileCount = ${proposed(partitions.length)})$each or WITH (force = true) does it anyway."
  }

  /**
   * A `fileCount` to propose: about sixteen files in all, but enough of each partition to be cut by two
   * columns.
   */
  def proposed(partitions: Int): Int =
    math.max(FileCount.TooSmall, FileCount.WantedFiles / math.max(1, partitions))
}

/** How many files a table (or one partition of it) becomes (docs/spec.md, section 2). */
object FileCount {
  private val DefaultTarget = 256L << 20
  private val SmallestTarget = 8L << 20
  private[plan] val WantedFiles = 16

  /** About as many as the option `fileCount` takes. */
  private val Most = 1L << 20

  /** With fewer target files, cutting by several columns gains next to nothing. */
  val TooSmall = 4

  /** Whether the statement, the table, the session or the format sets the number or the size of files. */
  def isAsked(options: RunOptions): Boolean = options.fileCount.isDefined || options.targetFileSize.isDefined

  /** Bytes that a file should have: as asked, or 256 MB, or less where that gives under 16 files. */
  def target(bytes: Long, asked: Option[Long]): Long = asked.getOrElse {
    if (bytes / DefaultTarget >= WantedFiles) DefaultTarget
    else math.min(DefaultTarget, math.max(SmallestTarget, bytes / WantedFiles))
  }

  /**
   * A power of two within 0.75 .. 1.5 of bytes / target where there is one, and no more files than rows.
   *
   * @param rows
   *   as many as there are, if that is known
   */
  def of(bytes: Long, target: Long, options: RunOptions, rows: Long = Long.MaxValue): Int = {
    val asked = options.fileCount.getOrElse {
      val n = math.max(1L, math.min(Most, math.round(bytes.toDouble / target))).toInt
      val below = Integer.highestOneBit(n)
      Seq(below, below * 2).find(p => p >= 0.75 * n && p <= 1.5 * n).getOrElse(n)
    }
    math.max(1L, math.min(asked.toLong, rows)).toInt
  }
}

/** How many files a DataFrame becomes by default: as many as a run would make of a table of its size. */
private[zorder] object DataFrameFiles {

  def of(df: DataFrame): Int = {
    val session = Shims.classic(df.sparkSession)
    val conf = session.sessionState.conf
    val options = RunOptions.merge(Nil, Map.empty, session.conf.getAll)
    val files = bytes(df.queryExecution.optimizedPlan, conf.defaultSizeInBytes)
      .map(n => FileCount.of(n, FileCount.target(n, options.targetFileSize), options))
    options.fileCount.orElse(files).getOrElse(conf.numShufflePartitions)
  }

  /**
   * The size by Spark's plan; None if an input has none, such as rows of an RDD. For a join Spark estimates
   * the product of both sides, which is far too large: the sum of its inputs is closer.
   */
  private[clustering] def bytes(plan: LogicalPlan, unknown: Long): Option[Long] = {
    val inputs = plan.collectLeaves().map(_.stats.sizeInBytes)
    val whole = if (plan.exists(_.isInstanceOf[Join])) inputs.sum else plan.stats.sizeInBytes
    Some(whole).filter(n => inputs.forall(_ < unknown) && n < unknown).map(_.toLong)
  }
}

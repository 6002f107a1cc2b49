package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.zorder.conf.RunOptions

/** How many files a table (or one partition of it) becomes (SPEC 2). */
object FileCount {
  private val DefaultTarget = 256L << 20
  private val SmallestTarget = 8L << 20
  private val WantedFiles = 16

  /** About as many as the option `fileCount` takes. */
  private val Most = 1L << 20

  /** With fewer target files than this, cutting by several columns gains next to nothing. */
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

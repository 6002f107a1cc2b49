package org.apache.spark.sql.zorder.skip.scan

import scala.collection.JavaConverters._

/**
 * A scan that was served by a statistics index.
 *
 * @param at
 *   when it was planned, in milliseconds since 1970
 * @param bytes
 *   of whole files
 */
final case class TimedScan(at: Long, considered: Long, pruned: Long, bytes: ScanBytes)

/** The lengths of the files that a scan considered, and of those of them that were left out. */
final case class ScanBytes(considered: Long, pruned: Long)

/** The last scans of one table. */
final private[scan] class RecentScans {
  private val scans = new java.util.ArrayDeque[TimedScan]()

  def add(scan: TimedScan): Unit = synchronized {
    if (scans.size >= RecentScans.Most) { val _ = scans.removeFirst() }
    scans.addLast(scan)
  }

  /** Oldest first. */
  def all: Seq[TimedScan] = synchronized(scans.asScala.toVector)
}

private[scan] object RecentScans {

  /** Some 600 KB a table. */
  val Most = 10000
}

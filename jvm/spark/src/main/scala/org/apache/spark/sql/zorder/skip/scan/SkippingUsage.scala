package org.apache.spark.sql.zorder.skip.scan

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.internal.Logging

/**
 * What skipping has done in this JVM for the scans of one table, or for those that filter on one of its columns.
 *
 * @param column
 *   None for all scans of the table
 * @param considered
 *   files of the partitions that were read
 * @param pruned
 *   files left out, by all filters of a scan together
 * @param unknown
 *   files that were new, changed or too fresh to trust their entries
 */
final case class TableUsage(
    table: String,
    column: Option[String],
    scans: Long,
    considered: Long,
    pruned: Long,
    unknown: Long,
    ms: Double)

/**
 * What was skipped of one scan, and the time that it took to know; as in [[TableUsage]].
 *
 * @param bytes
 *   of the files; None for what is no scan
 */
final private[skip] case class FileCounts(
    considered: Long,
    pruned: Long,
    unknown: Long,
    nanos: Long,
    bytes: Option[ScanBytes] = None)

/** Adds up what was skipped, table by table and column by column. */
object SkippingUsage extends Logging {

  final private class Sums {
    private val scans, considered, pruned, unknown, nanos = new LongAdder

    def add(files: FileCounts): Unit = {
      scans.increment()
      considered.add(files.considered)
      pruned.add(files.pruned)
      unknown.add(files.unknown)
      nanos.add(files.nanos)
    }

    def usage(table: String, column: Option[String]): TableUsage =
      TableUsage(table, column, scans.sum, considered.sum, pruned.sum, unknown.sum, nanos.sum / 1e6)
  }
  private val sums = new ConcurrentHashMap[(String, Option[String]), Sums]()
  private val lastScans = new ConcurrentHashMap[String, RecentScans]()

  /** Whether a query is planned on this thread only to be explained. */
  private val explaining = ThreadLocal.withInitial[Boolean](() => false)

  /** Plans queries that are not run, and so not counted. */
  private[skip] def uncounted[A](body: => A): A = {
    val before = explaining.get
    explaining.set(true)
    try body
    finally explaining.set(before)
  }

  /**
   * Counts a scan, or an aggregate that is answered in its place.
   *
   * @param columns
   *   that it filters on, or asks for, and the index has
   */
  private[skip] def scanned(root: Path, columns: Seq[String], files: FileCounts): Unit =
    if (!explaining.get) {
      val table = root.toString
      (None +: columns.map(Option(_))).foreach(c =>
        sums.computeIfAbsent((table, c), _ => new Sums).add(files))
      files.bytes.foreach(b =>
        lastScans.computeIfAbsent(table, _ => new RecentScans)
          .add(TimedScan(System.currentTimeMillis(), files.considered, files.pruned, b)))
      logInfo(
        s"$root: ${files.pruned} of ${files.considered} files skipped by the statistics index, ${files.unknown} not in " +
          f"it, in ${files.nanos / 1e6}%.1f ms")
    }

  /** By table; of each the whole first, then its columns by name. */
  def all: Seq[TableUsage] =
    sums.asScala.toSeq.sortBy { case ((table, column), _) => (table, column.getOrElse("")) }
      .map { case ((table, column), s) => s.usage(table, column) }

  /** One entry a table, by its path. */
  def tables: Seq[TableUsage] = all.filter(_.column.isEmpty)

  /** The last 10,000 scans of a table in this JVM, oldest first. */
  def recent(root: Path): Seq[TimedScan] =
    Option(lastScans.get(root.toString)).fold(Seq.empty[TimedScan])(_.all)

  def of(root: Path): Option[TableUsage] = tables.find(_.table == root.toString)
}

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
final private class RecentScans {
  private val scans = new java.util.ArrayDeque[TimedScan]()

  def add(scan: TimedScan): Unit = synchronized {
    if (scans.size >= RecentScans.Most) { val _ = scans.removeFirst() }
    scans.addLast(scan)
  }

  /** Oldest first. */
  def all: Seq[TimedScan] = synchronized(scans.asScala.toVector)
}

private object RecentScans {

  /** Some 600 KB a table. */
  val Most = 10000
}

package org.apache.spark.sql.zorder.skipping.scan

import java.util.{Collections, LinkedHashMap}
import java.util.concurrent.atomic.LongAdder

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path
import org.apache.spark.SparkEnv
import org.apache.spark.internal.Logging

/**
 * What skipping has done in this application for the scans of one table, or for those that filter on one of
 * its columns.
 *
 * @param column
 *   None for all scans of the table
 * @param considered
 *   files of the partitions that were read
 * @param pruned
 *   files left out, by all filters of a scan together
 * @param unknown
 *   files without an entry that can be trusted: new ones, changed ones and those that are too fresh
 */
final case class TableUsage(
    table: String,
    column: Option[String],
    scans: Long,
    considered: Long,
    pruned: Long,
    unknown: Long,
    ms: Double)

/** What was skipped of one scan, and the time that it took to know; as in [[TableUsage]]. */
final private[skipping] case class SkippedCounts(considered: Long, pruned: Long, unknown: Long, nanos: Long)

/** Adds up what was skipped, table by table and column by column. */
object SkippingUsage extends Logging {

  final private class Sums {
    private val scans, considered, pruned, unknown, nanos = new LongAdder

    def add(files: SkippedCounts): Unit = {
      scans.increment()
      considered.add(files.considered)
      pruned.add(files.pruned)
      unknown.add(files.unknown)
      nanos.add(files.nanos)
    }

    def usage(table: String, column: Option[String]): TableUsage =
      TableUsage(table, column, scans.sum, considered.sum, pruned.sum, unknown.sum, nanos.sum / 1e6)
  }

  /** A session may read a new directory every minute, for months. */
  private val MostKept = 10000

  /** Of the tables and columns that were read last. */
  private val sums = Collections.synchronizedMap(
    new LinkedHashMap[(String, Option[String]), Sums](16, 0.75f, true) {
      override protected def removeEldestEntry(
          eldest: java.util.Map.Entry[(String, Option[String]), Sums]): Boolean = size() > MostKept
    })

  /** The id of the application whose scans are counted. */
  private var application = ""

  /** Forgets what another application of this JVM has read, such as one before `spark.stop()` in a notebook. */
  private def ofApplication(): java.util.Map[(String, Option[String]), Sums] = sums.synchronized {
    val now = Option(SparkEnv.get).flatMap(_.conf.getOption("spark.app.id")).getOrElse(application)
    if (now != application) sums.clear()
    application = now
    sums
  }

  /** Whether a query is planned on this thread only to be explained. */
  private val explaining = ThreadLocal.withInitial[Boolean](() => false)

  /** Plans queries that are not run, and so not counted. */
  private[zorder] def uncounted[A](body: => A): A = {
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
  private[skipping] def scanned(root: Path, columns: Seq[String], files: SkippedCounts): Unit =
    if (!explaining.get) {
      val table = root.toString
      val counted = ofApplication()
      (None +: columns.map(Option(_))).foreach(c =>
        counted.computeIfAbsent((table, c), _ => new Sums).add(files))
      logInfo(
        s"$root: ${files.pruned} of ${files.considered} files left out by statistics, ${files.unknown} without any, " +
          f"in ${files.nanos / 1e6}%.1f ms")
    }

  /** The usage by table: for each first the whole table, then its columns by name. */
  def all: Seq[TableUsage] =
    sums.synchronized(ofApplication().asScala.toList).sortBy { case ((table, column), _) =>
      (table, column.getOrElse(""))
    }.map { case ((table, column), s) => s.usage(table, column) }
}

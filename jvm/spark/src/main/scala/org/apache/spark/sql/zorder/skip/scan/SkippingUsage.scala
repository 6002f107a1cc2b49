package org.apache.spark.sql.zorder.skip.scan

import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.LongAdder

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging

/** What skipping has done for the scans of one table in this JVM. */
final case class TableUsage(
    table: String,
    scans: Long,
    considered: Long,
    pruned: Long,
    unknown: Long,
    ms: Double)

/** Adds up what was skipped, table by table. */
object SkippingUsage extends Logging {

  final private class Sums {
    val scans, considered, pruned, unknown, nanos = new LongAdder
  }
  private val byTable = new ConcurrentHashMap[String, Sums]()

  private[scan] def scanned(root: Path, files: SkippedFiles, nanos: Long): Unit = {
    val sums = byTable.computeIfAbsent(root.toString, _ => new Sums)
    sums.scans.increment()
    sums.considered.add(files.considered)
    sums.pruned.add(files.pruned)
    sums.unknown.add(files.unknown)
    sums.nanos.add(nanos)
    logInfo(
      s"$root: ${files.pruned} of ${files.considered} files skipped by the statistics index, ${files.unknown} not in " +
        f"it, in ${nanos / 1e6}%.1f ms")
  }

  /** One entry a table, by its path. */
  def tables: Seq[TableUsage] = byTable.asScala.toSeq.sortBy(_._1).map { case (table, s) =>
    TableUsage(table, s.scans.sum, s.considered.sum, s.pruned.sum, s.unknown.sum, s.nanos.sum / 1e6)
  }

  def of(root: Path): Option[TableUsage] = tables.find(_.table == root.toString)
}

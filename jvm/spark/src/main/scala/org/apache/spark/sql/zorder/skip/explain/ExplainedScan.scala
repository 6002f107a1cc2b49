package org.apache.spark.sql.zorder.skip.explain

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.expressions.{Expression, PlanExpression}
import org.apache.spark.sql.execution.FileSourceScanExec
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex
import org.apache.spark.sql.zorder.skip.scan.{ScanIndexes, SkippingFileIndex}
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * What the filters of one scan leave out.
 *
 * @param table
 *   the name with its catalog, or the path
 * @param considered
 *   files of the partitions that the scan reads; None where they are not listed by Spark
 * @param pruned
 *   left out by all filters together
 * @param reason
 *   what concerns the scan as a whole: why nothing is skipped, or that entries are stale
 */
final private[explain] case class ExplainedScan(
    table: String,
    considered: Option[Long],
    pruned: Long,
    filters: Seq[FilterCounts],
    reason: String)

/**
 * Explains the scans of files in a physical plan, from the very filters that they carry.
 *
 * @param only
 *   the root of the only table that is asked for
 */
final private[explain] class FileScans(session: ClassicSession, only: Option[Path]) {
  private val why = new MissingStatistics(session)

  def wantsAll: Boolean = only.isEmpty

  def wanted(scan: FileSourceScanExec): Boolean = only.forall { root =>
    val base = FileScans.place(root)
    scan.relation.location match {
      case skipping: SkippingFileIndex => FileScans.place(skipping.root) == base
      case other => other.rootPaths.exists(p => (FileScans.place(p) + "/").startsWith(base + "/"))
    }
  }

  /** Lists files as the scan would, and runs nothing. */
  def explained(scan: FileSourceScanExec): ExplainedScan = {
    val partitionFilters = scan.partitionFilters.filterNot(FileScans.dynamic)
    scan.relation.location match {
      case skipping: SkippingFileIndex =>
        val listed = skipping.wrapped.listFiles(partitionFilters, scan.dataFilters)
          .flatMap(_.files).map(f => DataFile(f.getPath.toString, f.getLen, f.getModificationTime, ""))
        val files = new ListedFiles(skipping.index.files, skipping.root, listed.toIndexedSeq)
        val partitioning = scan.relation.partitionSchema.fieldNames.toSet
        val report = new FilterReport(skipping.index, files, skipping.isUnanswered, partitioning, why)
        val (filters, kept) = report.of(scan.dataFilters)
        val reason =
          if (filters.isEmpty) "no filter on data columns reaches the scan"
          else Seq(files.stale, outdated(skipping.index)).filter(_.nonEmpty).mkString("; ")
        ExplainedScan(name(scan), Some(files.considered), files.pruned(kept), filters, reason)
      case other =>
        val listed = Try(other.listFiles(partitionFilters, scan.dataFilters).map(_.files.size.toLong).sum)
        ExplainedScan(name(scan), listed.toOption, 0, Nil, whyNot(scan))
    }
  }

  private def outdated(index: StatisticsIndex): String = {
    val names = index.outdated.map(_.sql)
    if (names.isEmpty) ""
    else
      s"made by an older version of spark-zorder, and not used: ${names.mkString(", ")}: run ZORDER REFRESH INDEX"
  }

  private def whyNot(scan: FileSourceScanExec): String =
    if (!SessionKeys.SkippingEnabled.orDefault(session.sessionState.conf))
      s"${SessionKeys.SkippingEnabled.key} is false"
    else {
      val catalog = scan.tableIdentifier.flatMap(i =>
        Try(session.sessionState.catalog.getTableMetadata(i)).toOption.flatMap(_.storage.locationUri))
      session.withActive(new ScanIndexes(session).of(scan.relation, catalog)).fold(
        identity,
        _ => "the session is without the rule that skips files")
    }

  private def name(scan: FileSourceScanExec): String =
    scan.tableIdentifier.map(i => ColumnPath.sql(i.nameParts))
      .getOrElse(scan.relation.location.rootPaths.map((p: Path) => p.toString).mkString(", "))
}

private[explain] object FileScans {

  /** The same directory is written with and without its scheme. */
  private def place(path: Path): String = path.toUri.getPath.stripSuffix("/")

  /** As Spark leaves them out when it lists files at planning. */
  private def dynamic(e: Expression): Boolean = e.exists(_.isInstanceOf[PlanExpression[_]])
}

package org.apache.spark.sql.zorder.workload.scan

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.catalog.{CatalogColumnStat, CatalogTable}
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{CatalogFileIndex, HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.zorder.expr.WordTypes
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{Footers, StatColumn, Zones}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.workload.predicate.BoxColumn
import sparkzorder.curve.{Word, Zone}

/**
 * Column statistics from the catalog and from the footers of a few Parquet files, without a Spark job. Cached by
 * table and column.
 */
final private[workload] class ScanStatistics(session: ClassicSession) {
  private val known = scala.collection.mutable.HashMap.empty[(String, BoxColumn), ColumnStatistics]

  def of(scan: Scan)(column: BoxColumn): ColumnStatistics = {
    if (known.size >= ScanStatistics.MostKept) known.clear()
    known.getOrElseUpdate((scan.table, column), look(scan.leaf, column))
  }

  private def look(leaf: LogicalPlan, column: BoxColumn): ColumnStatistics = {
    val path = Try(session.sessionState.sqlParser.parseMultipartIdentifier(column.sql)).toOption
    leaf match {
      case l: LogicalRelation =>
        val catalog = l.catalogTable.flatMap(ScanStatistics.ofCatalog(_, column))
        val fromFiles = l.relation match {
          case fs: HadoopFsRelation if catalog.forall(_.range.isEmpty) =>
            path.flatMap(ofFooters(fs, _, column))
          case _ => None
        }
        val facts = catalog.getOrElse(ColumnStatistics(column.dataType))
        facts.copy(range = facts.range.orElse(fromFiles))
      case _ => ColumnStatistics(column.dataType)
    }
  }

  private def ofFooters(
      fs: HadoopFsRelation,
      path: Seq[String],
      column: BoxColumn): Option[(Word, Word)] =
    // a CatalogFileIndex would list every partition now
    if (!fs.fileFormat.isInstanceOf[ParquetFileFormat] || fs.location.isInstanceOf[CatalogFileIndex]) None
    else {
      val all = fs.location.inputFiles.sorted
      val few = ScanStatistics.spread(all.length).map(all(_))
      val files = few.map(f => DataFile(new Path(new java.net.URI(f)).toString, -1L, 0L, ""))
      val stat = StatColumn(path, column.dataType, overlookNaN = true)
      val zones = Footers.read(session, files, Seq(stat)).map(_.zone(0)).filterNot(_ == Zone.Unknown)
      Zones.union(zones) match {
        case Zone.Between(min, max) => Some((min, max))
        case _ => None
      }
    }
}

private[workload] object ScanStatistics {

  /** Footers that are read for a scan: few enough to need no job. */
  private val Files = 4
  private val MostKept = 1000

  /** First, last, and evenly between. */
  def spread(files: Int): Seq[Int] =
    if (files <= Files) 0 until files
    else (0 until Files).map(i => (i.toLong * (files - 1) / (Files - 1)).toInt)

  private def ofCatalog(table: CatalogTable, column: BoxColumn): Option[ColumnStatistics] =
    for {
      statistics <- table.stats
      (name, found) <- statistics.colStats.find(_._1.equalsIgnoreCase(column.sql))
    } yield {
      def word(text: Option[String]): Option[Word] = for {
        t <- text
        value <- Try(CatalogColumnStat.fromExternalString(t, name, column.dataType, found.version)).toOption
        words <- WordTypes.of(column.dataType)
      } yield words.word(value)
      val range = for { low <- word(found.min); high <- word(found.max) } yield (low, high)
      val nulls = for {
        n <- found.nullCount; rows <- statistics.rowCount; if rows > 0
      } yield (n.toDouble / rows.toDouble)
      ColumnStatistics(
        column.dataType,
        range,
        found.distinctCount.map(_.toDouble),
        nulls.map(ColumnStatistics.rounded))
    }
}

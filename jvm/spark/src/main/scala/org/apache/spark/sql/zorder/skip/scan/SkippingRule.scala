package org.apache.spark.sql.zorder.skip.scan

import java.net.URI

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
import org.apache.spark.sql.catalyst.util.ResolveDefaultColumns
import org.apache.spark.sql.execution.datasources.{
  FileIndex,
  HadoopFsRelation,
  LogicalRelation,
  PruneFileSourcePartitions
}
import org.apache.spark.sql.execution.datasources.parquet.{ParquetFileFormat, ParquetUtils}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skip.index.StatisticsIndex

/**
 * Puts a [[SkippingFileIndex]] into every scan of plain Parquet whose table has a statistics index.
 *
 * It runs before cost-based optimisation and so before Spark prunes partitions, which Spark does only for a class of
 * index that the scan has no longer afterwards: so partitions are pruned first.
 */
final case class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SessionKeys.SkippingEnabled.orDefault(conf) || !plan.exists(indexed(_).isDefined)) plan
    else
      PruneFileSourcePartitions(plan).transformUp { case l: LogicalRelation =>
        indexed(l).fold(l) { case (relation, root, index) =>
          val unanswered = SkippingRule.unanswered(relation.schema, relation.partitionSchema, index)
          val location = new SkippingFileIndex(relation.location, root, index, unanswered)
          l.copy(relation = relation.copy(location = location)(relation.sparkSession))
        }
      }

  private def indexed(plan: LogicalPlan): Option[(HadoopFsRelation, Path, StatisticsIndex)] = plan match {
    case l: LogicalRelation => l.relation match {
        case r: HadoopFsRelation =>
          val catalog = l.catalogTable.flatMap(_.storage.locationUri)
          indexOf(r, catalog).toOption.map { case (root, index) => (r, root, index) }
        case _ => None
      }
    case _ => None
  }

  /**
   * The index of a table that is scanned, with the table's root, or why there is none to use.
   *
   * @param catalog
   *   where the catalog says that the table is
   */
  private[skip] def indexOf(
      r: HadoopFsRelation,
      catalog: Option[URI]): Either[String, (Path, StatisticsIndex)] =
    if (!SkippingRule.isPlainParquet(r)) Left("not a listing of plain Parquet files")
    else if (byFieldId(r)) Left("columns are found by field id, and the index knows names")
    else {
      val root = SkippingRule.rootOf(catalog, r.location)
      def hadoop = Shims.classic(session).sessionState.newHadoopConf()
      root.flatMap(LoadedIndexes.of(_, conf, hadoop)) match {
        case None => Left("no statistics index: make one with ZORDER INDEX")
        case Some(index) if index.caseSensitive != conf.caseSensitiveAnalysis =>
          Left("the index was made with another spark.sql.caseSensitive")
        case Some(index) => Right((root.get, index))
      }
    }

  /** Such a scan finds columns by number, whatever their names; the index knows names. */
  private def byFieldId(r: HadoopFsRelation): Boolean =
    conf.parquetFieldIdReadEnabled && ParquetUtils.hasFieldIds(r.schema)
}

object SkippingRule {

  /** Spark's own indexes of files that it lists; those of formats and of streams skip in their own ways. */
  private val Listing = Set("InMemoryFileIndex", "CatalogFileIndex", "PrunedInMemoryFileIndex")
    .map("org.apache.spark.sql.execution.datasources." + _)

  private def isPlainParquet(r: HadoopFsRelation): Boolean =
    r.fileFormat.getClass == classOf[ParquetFileFormat] && Listing(r.location.getClass.getName)

  /**
   * Partition columns, whose values are not in the files, and columns whose default stands for what old files have
   * not got, where the index has taken that for NULL.
   */
  private[skip] def unanswered(
      schema: StructType,
      partitionSchema: StructType,
      index: StatisticsIndex): Set[String] = {
    val defaults =
      schema.filter(_.metadata.contains(ResolveDefaultColumns.EXISTS_DEFAULT_COLUMN_METADATA_KEY))
    val taken = defaults.map(_.name).filter(n => index.takesAbsentForNull(n))
    (partitionSchema.fieldNames ++ taken).toSet
  }

  /** The root of the table: of a path, the directory above those of partitions. */
  private def rootOf(catalog: Option[URI], location: FileIndex): Option[Path] =
    catalog.map(uri => qualified(new Path(uri), location)).orElse {
      location.rootPaths.map(tableOf).distinct match {
        case Seq(root) => Some(root)
        case _ => None
      }
    }

  /** With the scheme that the listing has. */
  private def qualified(path: Path, location: FileIndex): Path =
    location.rootPaths.headOption.fold(path)(p => path.makeQualified(p.toUri.resolve("/"), p))

  private def tableOf(path: Path): Path =
    if (path.getName.contains("=") && path.getParent != null) tableOf(path.getParent) else path
}

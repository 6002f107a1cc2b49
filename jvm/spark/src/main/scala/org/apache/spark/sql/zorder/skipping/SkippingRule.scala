package org.apache.spark.sql.zorder.skipping

import java.net.URI

import scala.collection.mutable

import org.apache.hadoop.fs.Path
import org.apache.parquet.hadoop.ParquetInputFormat
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.SQLConfHelper
import org.apache.spark.sql.catalyst.expressions.SubqueryExpression
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.rules.Rule
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
import org.apache.spark.sql.zorder.skipping.index.{IndexedFiles, LoadedIndexes, StatisticsIndex}
import org.apache.spark.sql.zorder.skipping.scan.{PruningScan, ScansOfFormats, SkippingFileIndex}
import org.apache.spark.sql.zorder.stats.StatColumn

/**
 * Puts a file index that skips into every scan of plain Parquet whose table has a statistics index, and into
 * scans of formats that plan their files; answers aggregates from the index, and tells scans of the first
 * rows that a query wants: in one pass, from the scans upwards.
 *
 * It runs before cost-based optimisation and so before Spark prunes partitions, which Spark does only for a
 * class of index that the scan has no longer afterwards: so partitions are pruned first.
 */
final case class SkippingRule(session: SparkSession) extends Rule[LogicalPlan] {

  override def apply(plan: LogicalPlan): LogicalPlan =
    if (!SessionKeys.SkippingEnabled.orDefault(conf)) plan
    else {
      val indexes = new ScanIndexes(session)
      val narrowed = ofFormats(plan)
      val isNew = narrowed.exists { case l: LogicalRelation => indexes.of(l).isDefined; case _ => false }
      // it may come to a plan again, whose scans skip already
      if (!isNew && PruningScan.all(narrowed).isEmpty) narrowed
      else {
        val pruned = if (isNew) PruneFileSourcePartitions(narrowed) else narrowed
        pruned.transformUp(indexes.intoScans.orElse(AggregateRule.fromIndex).orElse(TopRowsRule.marks))
      }
    }

  /**
   * Narrows the lists that formats plan, those of subqueries, too: Delta prepares these together with the
   * query around them, after the rules have run for their own plans.
   */
  private def ofFormats(plan: LogicalPlan): LogicalPlan =
    ScansOfFormats.planned(session, plan).fold(plan)(_.transformUpWithSubqueries {
      case NarrowedRelation(narrowed) => narrowed
    }.transformAllExpressions {
      case s: SubqueryExpression if PruningScan.all(s.plan).nonEmpty =>
        s.withNewPlan(s.plan.transformUpWithSubqueries(TopRowsRule.marks))
    })

  /** A scan whose list of files can be narrowed, with the index that does. */
  private object NarrowedRelation {
    def unapply(l: LogicalRelation): Option[LogicalRelation] = l.relation match {
      case r: HadoopFsRelation => ScansOfFormats.fileIndex(session, l, r)
          .map(index => l.copy(relation = r.copy(location = index)(r.sparkSession)))
      case _ => None
    }
  }
}

/** The indexes of the tables that one query scans; each is looked up once. */
final class ScanIndexes(session: SparkSession) extends SQLConfHelper {
  private val known = mutable.HashMap.empty[Path, Option[StatisticsIndex]]

  /**
   * The index of a scan that does not skip yet, with what it reads and the table's root; None without one to
   * use.
   */
  private[skipping] def of(scan: LogicalRelation): Option[(HadoopFsRelation, Path, StatisticsIndex)] =
    scan.relation match {
      // a batch is a few files of the table, and the query keeps a state
      case r: HadoopFsRelation if !scan.isStreaming =>
        of(r, scan.catalogTable.flatMap(_.storage.locationUri)).toOption
          .map { case (root, index) => (r, root, index) }
      case _ => None
    }

  /**
   * The index of a table that is scanned, with the table's root, or why there is none to use.
   *
   * @param catalog
   *   where the catalog says that the table is
   */
  def of(r: HadoopFsRelation, catalog: Option[URI]): Either[String, (Path, StatisticsIndex)] =
    if (!ScanIndexes.isPlainParquet(r)) Left("not a listing of plain Parquet files")
    else if (byFieldId(r)) Left("columns are found by field id, and the index knows names")
    else {
      val root = ScanIndexes.rootOf(catalog, r.location)
      // that of a format's table tells of files that its log has, by names that its log knows
      root.flatMap(at).filter(_.identities.isEmpty) match {
        case None => Left("no statistics index: make one with ZORDER INDEX")
        case Some(index) if index.caseSensitive != conf.caseSensitiveAnalysis =>
          Left("the index was made with another spark.sql.caseSensitive")
        case Some(index) => Right((root.get, index))
      }
    }

  private def at(root: Path): Option[StatisticsIndex] =
    known.getOrElseUpdate(
      root,
      LoadedIndexes.of(root, conf, Shims.classic(session).sessionState.newHadoopConf()))

  /** Whether the scan finds columns by field id. The index knows only names. */
  private def byFieldId(r: HadoopFsRelation): Boolean =
    conf.parquetFieldIdReadEnabled && ParquetUtils.hasFieldIds(r.schema)

  /** A scan whose table has an index, made one that skips by it. */
  private[skipping] val intoScans: PartialFunction[LogicalPlan, LogicalPlan] = { case l: LogicalRelation =>
    of(l).fold(l) { case (r, root, index) =>
      val unanswered = ScanIndexes.unanswered(r.schema, r.partitionSchema, index)
      val hadoop = () => Shims.classic(r.sparkSession).sessionState.newHadoopConfWithOptions(r.options)
      val location = new SkippingFileIndex(r.location, root, index, unanswered, hadoop)
      val options = r.options ++ PageIndexes.off(session, r, index.files)
      l.copy(relation = r.copy(location = location, options = options)(r.sparkSession))
    }
  }
}

/**
 * Whether a scan reads the page indexes of Parquet. They, and then single pages, take three requests and more of a file.
 * Where a column of a file is a few small pages, it is read whole in less time, from a local disk too (ADR 81).
 */
private object PageIndexes {
  private val Enabled = ParquetInputFormat.COLUMN_INDEX_FILTERING_ENABLED

  /** Five pages, as most writers make them. */
  private val FewRows = 100000L

  /** Even if one column has them all, they take hardly longer than the requests do. */
  private val FewBytes = 8L << 20

  /** The option that turns them off, where no file is worth them and nobody has said what is wanted. */
  def off(session: SparkSession, r: HadoopFsRelation, files: IndexedFiles): Map[String, String] = {
    val isSmall = files.rows.nonEmpty && files.mostRows <= FewRows && files.mostBytes <= FewBytes
    def isSet = r.options.keys.exists(_.equalsIgnoreCase(Enabled)) ||
      Shims.classic(session).sessionState.conf.contains(Enabled) ||
      session.sparkContext.hadoopConfiguration.get(Enabled) != null
    if (isSmall && !isSet) Map(Enabled -> "false") else Map.empty
  }
}

object ScanIndexes {

  /** Spark's own indexes of files that it lists; those of formats and of streams skip in their own ways. */
  private val Listing = Set("InMemoryFileIndex", "CatalogFileIndex", "PrunedInMemoryFileIndex")
    .map("org.apache.spark.sql.execution.datasources." + _)

  private def isPlainParquet(r: HadoopFsRelation): Boolean =
    r.fileFormat.getClass == classOf[ParquetFileFormat] && Listing(r.location.getClass.getName)

  /**
   * Partition columns, whose values are not in the files, and columns whose default stands for what old files
   * have not got, where the index has taken that for NULL.
   */
  private[zorder] def unanswered(
      schema: StructType,
      partitionSchema: StructType,
      index: StatisticsIndex): Set[String] = {
    val defaults = schema.filter(StatColumn.hasDefault)
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

  /** The path with the scheme that the listing uses. */
  private def qualified(path: Path, location: FileIndex): Path =
    location.rootPaths.headOption.fold(path)(p => path.makeQualified(p.toUri.resolve("/"), p))

  private def tableOf(path: Path): Path =
    if (path.getName.contains("=") && path.getParent != null) tableOf(path.getParent) else path
}

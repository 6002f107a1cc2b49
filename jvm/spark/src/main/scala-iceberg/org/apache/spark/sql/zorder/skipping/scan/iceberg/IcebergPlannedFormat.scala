package org.apache.spark.sql.zorder.skipping.scan.iceberg

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{BaseTable, BatchScan, FileContent, FileScanTask, Snapshot, SnapshotSummary, Table}
import org.apache.iceberg.spark.SparkSQLProperties
import org.apache.iceberg.spark.source.SparkTable
import org.apache.spark.sql.SparkSession
import org.apache.spark.sql.catalyst.expressions.{Attribute, AttributeSet, Expression, IsNotNull}
import org.apache.spark.sql.catalyst.plans.logical.LeafNode
import org.apache.spark.sql.connector.read.Scan
import org.apache.spark.sql.execution.datasources.v2.{DataSourceV2Relation, DataSourceV2ScanRelation}
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.expr.ColumnPath
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.skipping.index.StatisticsIndex
import org.apache.spark.sql.zorder.skipping.scan._
import org.apache.spark.sql.zorder.table.iceberg.{IcebergIndexing, Snapshots}

/**
 * Scans of Iceberg tables. The files that Iceberg has planned for a scan are taken from it with their
 * deletes, and fewer of them are put into another scan of its class.
 *
 * Scans of DELETE, UPDATE and MERGE stay as they are: what they read is what they write again.
 */
final class IcebergPlannedFormat extends PlannedFormat {
  private lazy val classOfScans = new QueryScanClass(classOf[SparkTable].getClassLoader)

  override def scan(leaf: LeafNode): Option[PruningScan] = {
    val files: Option[PrunedFiles] = leaf match {
      // no scan yet: predicates wait for it here, and mean nothing to one that is not narrowed
      case r: DataSourceV2Relation => readTable(r).map(new UnplannedFiles(_))
      case r: DataSourceV2ScanRelation => planned(r)
      case _ => None
    }
    // files of one table may be partitioned in several ways: conditions on these columns are as all others.
    // Iceberg fails where a file is missing.
    files.map(new PruningScan(leaf, _, AttributeSet.empty, readsAllListed = true))
  }

  override def narrowed(relation: DataSourceV2ScanRelation, filters: Seq[Expression]): Option[Scan] =
    planned(relation).flatMap(_.narrowed(filters.map(ColumnPath.asDeclared(_, relation.output))))

  override def explained(scan: Scan): Option[NarrowedCounts] = {
    val queried = new QueryScan(classOfScans, scan)
    def whole: NarrowedCounts = {
      val n = queried.tasks.size.toLong
      NarrowedCounts(n, n, Nil)
    }
    if (!queried.isTable) None
    else {
      val files = queried.snapshot.flatMap(PlannedFiles.filesOf)
      Some(Narrowing.in(queried.runtimeFilters).getOrElse(whole).copy(files = files))
    }
  }

  private def planned(r: DataSourceV2ScanRelation): Option[PlannedFiles] =
    readTable(r.relation).flatMap { _ =>
      val scan = new QueryScan(classOfScans, r.scan)
      // Spark counts on the groups that Iceberg has reported; a run-time filter has been at work already
      if (scan.isTable && !scan.isGrouped && scan.runtimeFilters.isEmpty) Some(new PlannedFiles(scan))
      else None
    }

  /** The table of a relation that is only read; None where a statement writes it, and for metadata tables. */
  private def readTable(r: DataSourceV2Relation): Option[Table] = r.table match {
    case t: SparkTable if t.getClass == classOf[SparkTable] => Some(t.table).filter(_.isInstanceOf[BaseTable])
    case _ => None
  }
}

/** Files that Iceberg has not planned yet. */
final private class UnplannedFiles(table: Table) extends PrunedFiles {
  override def root: Path = new Path(table.location)
  override def mayAnswer(column: Attribute): Boolean = true
  override def leavesOut(filter: Expression): Boolean = false

  override lazy val sizeInBytes: Long = Option(table.currentSnapshot)
    .flatMap(Snapshots.number(_, SnapshotSummary.TOTAL_FILE_SIZE_PROP)).getOrElse(0L)

  /** What a filter leaves, Iceberg says only when it plans; and whether a join by groups needs no shuffle. */
  override def leastBytes(filters: Seq[Expression]): Long = {
    // as Iceberg reads it
    val mayBeGrouped =
      java.lang.Boolean.parseBoolean(SQLConf.get.getConfString(
        SparkSQLProperties.PRESERVE_DATA_GROUPING,
        "false"))
    if (filters.forall(_.isInstanceOf[IsNotNull]) && !mayBeGrouped) sizeInBytes else 0L
  }
}

/**
 * The files of a scan. They are equal where Iceberg takes the scans for equal, which may share an exchange
 * then.
 */
final private class PlannedFiles(private val queried: QueryScan) extends PrunedFiles {
  private val table = queried.table.asInstanceOf[BaseTable]

  override val root: Path = new Path(table.location)

  override def mayAnswer(column: Attribute): Boolean = list.mayAnswer(column)

  override def leavesOut(filter: Expression): Boolean = list.leavesOut(filter)

  override def sizeInBytes: Long = tasks.map(_.length).sum

  override def leastBytes(filters: Seq[Expression]): Long = 0L

  /**
   * The scan with fewer files.
   *
   * @param filters
   *   with the names that the scan gives its columns
   */
  def narrowed(filters: Seq[Expression]): Option[Scan] = {
    val asked = list.asks(filters)
    if (asked.isEmpty || !areFiles) None
    else {
      val kept = list.narrow(filters, tasks)(ManifestBounds.key)
      if (kept.length == tasks.length) None
      else {
        val by = asked.map(f => Narrowing.text(f) + (if (list.asksBlooms(f)) " (Bloom)" else ""))
        val narrowing = Narrowing(tasks.length, kept.map(_.file.location), by)
        Some(queried.reading(kept, narrowing.filters))
      }
    }
  }

  private lazy val tasks: IndexedSeq[FileScanTask] =
    queried.tasks.asScala.toIndexedSeq.collect { case t: FileScanTask => t }

  private def areFiles: Boolean = tasks.length == queried.tasks.size &&
    tasks.forall(t => !t.isDataTask && t.file.content == FileContent.DATA)

  /** Columns that the manifests do not bound are none of the index, so that it says nothing of them. */
  private lazy val list = new NarrowedList(root, PlannedFiles.Asked, _ => false, bounds, index)

  private def index: Option[FormatIndex] = {
    val session = Shims.classic(SparkSession.active)
    ManifestBounds.schemaOf(table, queried.projection)
      .filter(_ => IcebergIndexing.isPossible(session, table)).flatMap { schema =>
        val conf = session.sessionState.newHadoopConf()
        FormatIndex.of(root, SQLConf.get, conf, IcebergIndexing.identities(table, schema))(new Path(_))
      }
  }

  private def bounds(expressions: Seq[Expression]): Option[StatisticsIndex] = source.flatMap { s =>
    SnapshotStatistics.of(key(s), s.columns, SQLConf.get).index(expressions, s)
  }

  private def key(source: ManifestBounds): SnapshotStatistics.Key = SnapshotStatistics.Key(
    s"${table.name} ${table.operations.current.uuid}",
    source.name,
    SQLConf.get.caseSensitiveAnalysis)

  /**
   * Bounds are planned without the scan's filter, once for all queries of a snapshot. Where the filter has
   * left a small part of the files, only these are planned, and kept for that filter: a query of one
   * partition of a large table must not read all manifests.
   *
   * On Spark 3.5 and 4.0 a scan of the newest snapshot does not say which it was, if another query has
   * refreshed the table since. That does no harm: an entry tells of a file that never changes, and of its
   * deletes, which [[ManifestBounds.key]] compares with those of the scan.
   */
  private lazy val source: Option[ManifestBounds] = queried.planning match {
    case planning: BatchScan =>
      for {
        snapshot <- queried.snapshot
        schema <- ManifestBounds.schemaOf(table, queried.projection)
      } yield {
        val all = PlannedFiles.filesOf(snapshot)
        if (all.exists(BoundsSource.areFew(tasks.length.toLong, _)))
          new ManifestBounds(table, schema, snapshot.snapshotId, Some(planning), Some(tasks.length.toLong))
        else new ManifestBounds(table, schema, snapshot.snapshotId, None, all)
      }
    // what was appended between two snapshots
    case _ => None
  }

  override def equals(that: Any): Boolean = that match {
    case p: PlannedFiles => queried.scan == p.queried.scan
    case _ => false
  }
  override def hashCode(): Int = queried.scan.hashCode()
}

private object PlannedFiles {

  /** Iceberg looks up no more values of a list than these, one by one. */
  val Asked = new AskedOfFormat(mostListed = 200)

  /** The data files of a snapshot, as its summary counts them. */
  def filesOf(snapshot: Snapshot): Option[Long] =
    Snapshots.number(snapshot, SnapshotSummary.TOTAL_DATA_FILES_PROP)
}

package org.apache.spark.sql.zorder.table.hudi

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hudi.HoodieSchemaConversionUtils
import org.apache.hudi.client.common.HoodieSparkEngineContext
import org.apache.hudi.common.config.HoodieMetadataConfig
import org.apache.hudi.common.fs.FSUtils
import org.apache.hudi.common.model.{FileSlice, HoodieFileGroupId, HoodieRecord}
import org.apache.hudi.common.table.{HoodieTableConfig, HoodieTableMetaClient, TableSchemaResolver}
import org.apache.hudi.common.table.view.{FileSystemViewManager, HoodieTableFileSystemView}
import org.apache.hudi.keygen.constant.KeyGeneratorType
import org.apache.spark.api.java.JavaSparkContext
import org.apache.spark.sql.catalyst.catalog.CatalogTable
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.{NoRowsYetException, ZOrderException}
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{
  ClusterTable,
  FormatDescriptor,
  ManagedColumns,
  Retention,
  StateDir,
  TableWrite,
  VacuumResult
}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * One snapshot of a Hudi table. Its files are replaced by Hudi's own clustering commit.
 *
 * @param changes
 *   whether the statement changes the table; then nobody else may have planned a change of the same files
 */
final private[hudi] class HudiClusterTable(
    session: ClassicSession,
    override val name: String,
    private[hudi] val meta: HoodieTableMetaClient,
    private[hudi] val catalog: Option[CatalogTable],
    changes: Boolean)
    extends ClusterTable {

  override def format: String = FormatDescriptor.Hudi.id

  private val fs: FileSystem = new Path(meta.getBasePath.toString).getFileSystem(
    session.sessionState.newHadoopConf())

  private lazy val snapshot: HudiSnapshot = {
    val found = ActiveSession.during(session)(HudiSnapshot.of(session, meta))
    HudiRefusals.bucketed(name, meta, found.slices)
    HudiRefusals.schema(session, name, meta)
    found
  }

  /** By the paths of their base files. */
  private lazy val slices: Map[String, FileSlice] =
    snapshot.slices.filter(_.getBaseFile.isPresent).map(s => s.getBaseFile.get.getPath -> s).toMap

  override def root: Path = fs.makeQualified(new Path(meta.getBasePath.toString))

  override def checkBeforeRun(): Unit = HudiRefusals.version(session, name, meta, catalog)

  /** Includes Hudi's meta columns, which a reader sees too. */
  override lazy val schema: StructType = {
    val found = new TableSchemaResolver(meta).getTableSchemaIfPresent(true)
    if (!found.isPresent)
      throw new NoRowsYetException("ZORDER_NO_ROWS_YET.HUDI_WITHOUT_SCHEMA", "table" -> name)
    HoodieSchemaConversionUtils.convertHoodieSchemaToStructType(found.get)
  }

  override def declared: Option[StructType] = Some(schema)

  /** Hudi's meta columns are not part of a copy. */
  override def managed: Option[ManagedColumns] = Some(
    ManagedColumns(leaf =>
      if (HudiClusterTable.MetaColumns.contains(leaf.column.head)) None else Some(leaf.column)))

  override def properties: Map[String, String] = HudiFormat.properties(catalog)

  /** Hudi's settings for the table in the catalog. */
  def hudiProperties: Map[String, String] = HudiClient.settings(properties)

  override def state: StateDir = new StateDir(fs, root)
  override def recover(): Unit = state.pending.recover(selectable().map(DataFile.below(root, _)).toSet)

  override def unfinished: Option[String] = DeadRuns.notice(name, meta).orElse(state.pending.notice(name))
  override def obstacle: Option[String] = UnfinishedWrites.notice(name, meta)

  /** Hudi computes the partition of a row from columns that are in the files like any other. */
  override def partitionSchema: StructType = new StructType()
  override def partitioned: Boolean = meta.getTableConfig.isTablePartitioned

  override def constantColumns: Seq[String] =
    HudiClusterTable.MetaColumns ++ HudiClusterTable.constantFields(meta.getTableConfig)

  override def refusalOfName(column: String): Option[ZOrderException] =
    HudiClusterTable.MetaColumns.find(_.equalsIgnoreCase(column)).map { own =>
      val keys = meta.getTableConfig.getRecordKeyFields
      if (own == HoodieRecord.RECORD_KEY_METADATA_FIELD && keys.isPresent)
        new ZOrderException(
          "ZORDER_COLUMN_REFUSED.HUDI_RECORD_KEY",
          "column" -> own,
          "table" -> name,
          "columns" -> keys.get.mkString(", "))
      else new ZOrderException("ZORDER_COLUMN_REFUSED.HUDI_META_COLUMN", "column" -> own, "table" -> name)
    }

  /** An audit of base files would not see what waits in log files. */
  override def files(): Seq[DataFile] = {
    HudiRefusals.logFiles(name, meta, snapshot.slices)
    selectable()
  }

  override def selectable(): Seq[DataFile] = {
    if (slices.isEmpty) HudiRefusals.logFiles(name, meta, snapshot.slices)
    slices.values.map(dataFile).toSeq.sortBy(_.path)
  }

  private def dataFile(slice: FileSlice): DataFile = {
    val file = slice.getBaseFile.get
    DataFile(
      file.getPath,
      file.getFileSize,
      file.getPathInfo.getModificationTime,
      slice.getPartitionPath)
  }

  /** Whole partitions have to be without log files, since each has one layout. */
  override def check(files: Seq[DataFile]): Unit = {
    val partitions = files.map(_.partition).toSet
    HudiRefusals.logFiles(name, meta, snapshot.slices.filter(s => partitions(s.getPartitionPath)))
    if (changes) HudiRefusals.planned(name, snapshot, files.map(f => slices(f.path)))
  }

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    HudiRows(session, root, partitions, dataSchema)

  override def commitsParts: Boolean = true

  /** Hudi's writer always begins a page after 20,000 rows. */
  override def writesPagesInOrder: Boolean = false

  override def countsRowGroups: Boolean = false

  override def begin(runId: String, inputs: Seq[DataFile]): TableWrite = new HudiWrite(this, slices, runId)

  override def vacuum(retention: Retention, dryRun: Boolean): Seq[VacuumResult] =
    HudiVacuum.run(session, this, retention, dryRun)

  override def rollback(statement: String): String = HudiUpkeep.rollback(session, this, statement)

  override def remove(): Unit = HudiUpkeep.remove(session, this, fs)
}

private[hudi] object HudiClusterTable {

  /** Hudi's columns in every file: key, commit and partition of a row, and the name of its file. */
  val MetaColumns: Seq[String] = HoodieRecord.HOODIE_META_COLUMNS.asScala.toSeq

  /** The partition fields whose values make a partition as they are: of a day there are many timestamps. */
  private def constantFields(config: HoodieTableConfig): Seq[String] = {
    import KeyGeneratorType._
    val found = config.getPartitionFields
    val fields: Seq[String] = if (found.isPresent) found.get.toSeq else Nil
    Option(config.getKeyGeneratorClassName).map(fromClassName(_)) match {
      case Some(TIMESTAMP | TIMESTAMP_AVRO | USER_PROVIDED) => Nil
      case Some(CUSTOM | CUSTOM_AVRO) =>
        // older tables do not say which fields are timestamps
        val kinds = HoodieTableConfig.getPartitionFieldsForKeyGenerator(config)
        val typed = if (kinds.isPresent) kinds.get.asScala.toSeq.map(_.split(":")) else Nil
        typed.collect { case Array(field, kind) if kind.equalsIgnoreCase("SIMPLE") => field }
      case _ => fields
    }
  }
}

/**
 * The newest file slice of every file group, from Hudi's view of the completed instants.
 *
 * @param slices
 *   in the order of the partitions
 * @param pending
 *   file groups with a planned clustering or compaction, and its instant
 */
final private[hudi] case class HudiSnapshot(slices: Seq[FileSlice], pending: Map[HoodieFileGroupId, String]) {

  /** Slices by their file groups. */
  lazy val byGroup: Map[HoodieFileGroupId, FileSlice] = slices.map(s => s.getFileGroupId -> s).toMap
}

private[hudi] object HudiSnapshot {

  /** @param partitions where to look; None for the whole table */
  def of(
      session: ClassicSession,
      meta: HoodieTableMetaClient,
      partitions: Option[Seq[String]] = None): HudiSnapshot = {
    val context = new HoodieSparkEngineContext(new JavaSparkContext(session.sparkContext))
    val config =
      HoodieMetadataConfig.newBuilder().enable(meta.getTableConfig.isMetadataTableAvailable).build()
    val view = FileSystemViewManager.createInMemoryFileSystemViewWithTimeline(
      context,
      meta,
      config,
      // files of a write in progress would count as the newest, and then be left out as not committed
      meta.getActiveTimeline.getCommitsAndCompactionTimeline.filterCompletedAndCompactionInstants())
    try {
      val all = partitions.getOrElse(
        FSUtils.getAllPartitionPaths(context, meta, config).asScala).toSeq.sorted
      view.loadPartitions(all.asJava)
      // logs of what has changed, for readers of changes, hold no rows of the table
      def rows(slice: FileSlice) = slice.filterLogFiles(log => java.lang.Boolean.valueOf(!log.isCDC))
      HudiSnapshot(all.flatMap(p => view.getLatestFileSlices(p).iterator.asScala.map(rows)), pending(view))
    } finally view.close()
  }

  private def pending(view: HoodieTableFileSystemView): Map[HoodieFileGroupId, String] = {
    val clustered = view.getFileGroupsInPendingClustering.iterator.asScala
      .map(p => p.getLeft -> p.getRight.requestedTime)
    val compacted = (view.getPendingCompactionOperations.iterator.asScala ++
      view.getPendingLogCompactionOperations.iterator.asScala)
      .map(p => p.getRight.getFileGroupId -> p.getLeft)
    (clustered ++ compacted).toMap
  }
}

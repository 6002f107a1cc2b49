package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.iceberg.{FileScanTask, Snapshot, Table, TableProperties}

import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, ManagedColumns, StateDir, TableWrite, Vacuumed}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * One snapshot of an Iceberg table or of one of its branches. Its files are replaced by a `replace` commit, as
 * Iceberg's rewrite_data_files does.
 */
final private[iceberg] class IcebergClusterTable(
    session: ClassicSession,
    override val name: String,
    private[iceberg] val table: Table,
    private[iceberg] val branch: Option[String])
    extends ClusterTable {

  private val fs: FileSystem = new Path(table.location).getFileSystem(session.sessionState.newHadoopConf())
  private val staged = new StagedTasks

  /** None for a table that was never written to. */
  val snapshot: Option[Snapshot] = Option(branch.fold(table.currentSnapshot)(table.snapshot(_)))

  private lazy val tasks: Map[String, FileScanTask] = {
    val planned = snapshot.toSeq.flatMap { s =>
      val files = table.newScan().useSnapshot(s.snapshotId).ignoreResiduals().planFiles()
      try files.asScala.toList
      finally files.close()
    }
    IcebergRefusals.files(name, planned)
    planned.map(t => t.file.location -> t).toMap
  }

  private lazy val deletes = new IcebergDeletes(tasks.values)

  override def root: Path = fs.makeQualified(new Path(table.location))
  override lazy val schema: StructType = IcebergColumns.of(table.schema)
  override def declared: Option[StructType] = Some(schema)
  override def managed: Option[ManagedColumns] = Some(IcebergColumns.managed(table))
  override def columnId(path: Seq[String]): Option[String] = IcebergColumns.id(table, path)
  override def properties: Map[String, String] = table.properties.asScala.toMap

  override def formatOptions: Map[String, String] = IcebergClusterTable.Options.flatMap {
    case (property, option) => Option(table.properties.get(property)).map(option -> _)
  }

  /** Iceberg's writer has no INT96, and its manifests have bounds. */
  override def boundsBesideFiles: Boolean = true

  override def state: StateDir = new StateDir(fs, root, branch)

  override def recover(): Unit = state.pending.recover(files().map(DataFile.below(root, _)).toSet)

  override def unfinished: Option[String] = state.pending.notice(name)

  /** Partition values are computed from columns that are in the files like any other. */
  override def partitionSchema: StructType = new StructType()
  override def partitioned: Boolean = table.spec.isPartitioned
  override def constantColumns: Seq[String] = IcebergPartitions.constant(table)

  override def unskippable(paths: Seq[Seq[String]]): Option[String] =
    IcebergMetrics.unskippable(name, table, snapshot, paths)

  override def files(): Seq[DataFile] = tasks.values.map { task =>
    val file = task.file
    DataFile(
      file.location,
      file.fileSizeInBytes,
      0L,
      IcebergPartitions.text(table, file),
      IcebergDeletes.rows(task),
      deletes.share(task))
  }.toSeq.sortBy(_.path)

  override def check(files: Seq[DataFile]): Unit =
    IcebergRefusals.partitioning(name, table, files.map(f => tasks(f.path)))

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    IcebergRows(session, table, staged, partitions, tasks)

  override def commitsParts: Boolean = true

  /** Iceberg's writer ends row groups by bytes alone. */
  override def countsRowGroups: Boolean = false

  override def begin(runId: String): TableWrite = {
    val start = snapshot.getOrElse(refuse(s"$name has no files: write rows into it first."))
    new IcebergWrite(this, start, tasks, staged, runId)
  }

  override def vacuum(keepMs: Long, dryRun: Boolean): Seq[Vacuumed] =
    IcebergVacuum.run(session, this, keepMs, dryRun)

  override def rollback(statement: String): String = IcebergUpkeep.rollback(this, statement)

  override def remove(): Unit = IcebergUpkeep.remove(this, fs)

  override def close(): Unit = staged.clear(table)
}

private[iceberg] object IcebergClusterTable {
  val Main = "main"

  /** Iceberg's table properties that correspond to an option of ours. */
  private val Options = Map(
    TableProperties.WRITE_TARGET_FILE_SIZE_BYTES -> "targetFileSize",
    TableProperties.PARQUET_ROW_GROUP_SIZE_BYTES -> "rowGroupSize",
    TableProperties.PARQUET_PAGE_ROW_LIMIT -> "pageRowLimit")
}

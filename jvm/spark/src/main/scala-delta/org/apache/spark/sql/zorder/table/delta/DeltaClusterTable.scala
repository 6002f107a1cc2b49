package org.apache.spark.sql.zorder.table.delta

import java.util.Locale

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.catalyst.catalog.{CatalogTable, ExternalCatalogUtils}
import org.apache.spark.sql.delta.{DeltaColumnMapping, DeltaLog, IdMapping, NoMapping, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.delta.schema.SchemaMergingUtils
import org.apache.spark.sql.delta.sources.DeltaSQLConf
import org.apache.spark.sql.delta.stats.SkippingEligibleDataType
import org.apache.spark.sql.delta.util.DeltaFileOperations
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.types.{
  ArrayType,
  DataType,
  MapType,
  MetadataBuilder,
  StringType,
  StructField,
  StructType
}
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{StatColumn, StoredAs}
import org.apache.spark.sql.zorder.table.{
  ClusterTable,
  FormatDescriptor,
  FormatIndexing,
  ManagedColumns,
  Retention,
  StateDir,
  TableWrite,
  VacuumResult
}
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * One snapshot of a Delta table. Its files are replaced in Delta's own transaction, as OPTIMIZE does it.
 *
 * @param sql
 *   the table in a statement of Delta's
 */
private[delta] final class DeltaClusterTable(
    session: ClassicSession,
    override val name: String,
    sql: String,
    private[delta] val log: DeltaLog,
    private[delta] val catalogTable: Option[CatalogTable],
    private[delta] val snapshot: Snapshot)
    extends ClusterTable {

  override def format: String = FormatDescriptor.Delta.id

  private[delta] val paths = new DeltaPaths(log.dataPath, log.newDeltaHadoopConf())
  private val fs: FileSystem = paths.own

  private lazy val adds: Map[String, AddFile] =
    ActiveSession.during(session)(snapshot.allFiles.collect()).map(a => fullPath(a) -> a).toMap

  private[delta] val liquid = new LiquidClustering(name, sql, snapshot)

  /** The version of the snapshot. */
  def version: Long = snapshot.version

  override def root: Path = fs.makeQualified(log.dataPath)
  override lazy val schema: StructType =
    if (byId) DeltaColumns.numbered(snapshot.metadata.schema) else snapshot.metadata.schema
  override def partitionSchema: StructType = snapshot.metadata.partitionSchema
  override def properties: Map[String, String] = snapshot.metadata.configuration
  override def state: StateDir = new StateDir(fs, root)

  override def recover(): Unit = state.pending.recover(files().map(DataFile.below(root, _)).toSet)

  override def unfinished: Option[String] = state.pending.notice(name)

  override def declared: Option[StructType] = {
    val partitions = snapshot.metadata.partitionColumns.toSet
    Some(StructType(schema.filterNot(f => partitions(f.name))))
  }

  /** Whether files name columns as they like: only ids tell which is which. */
  private def byId: Boolean = snapshot.columnMappingMode == IdMapping

  /** Delta has no two columns that differ in case only, and files that it took over may have either case. */
  override def caseSensitive: Boolean = false

  /**
   * Delta skips files by the statistics in its log, so new ones must have them, whatever the session says. It reads
   * files by id only if Spark may find columns by their ids. Where a table has a constraint, it makes NULL of empty
   * texts before it checks rows, and so loses sight of their order and sorts each file again by its partition.
   */
  override def settings: Map[String, String] = Map(
    DeltaSQLConf.DELTA_COLLECT_STATS.key -> "true",
    DeltaSQLConf.CONVERT_EMPTY_TO_NULL_FOR_STRING_PARTITION_COL.key -> "false",
    SQLConf.CASE_SENSITIVE.key -> caseSensitive.toString) ++
    (if (byId) Map(SQLConf.PARQUET_FIELD_ID_READ_ENABLED.key -> "true") else Map.empty)

  /** Bounds of INT96 timestamps are in Delta's log, too. */
  override def boundsBesideFiles: Boolean = true

  /**
   * Row tracking keeps its own columns in the files. Delta 4 may keep partition columns there, too, but the log alone has
   * their values.
   */
  override def managed: Option[ManagedColumns] = {
    val columns = StructType(declared.get)
    val types = columns.map(f => folded(physical(f)) -> f.dataType).toMap
    val ids = if (byId) DeltaColumns.ids(columns) else Set.empty[Int]
    Some(ManagedColumns(leaf =>
      leaf.fieldId.filter(_ => byId) match {
        case Some(id) => if (ids(id)) Some(Seq(id.toString)) else None
        // elements of arrays and maps have no ids
        case None if byId => Some(leaf.column.map(folded)).filter(c => types.contains(c.head))
        case None => Some(leaf.column.map(folded)).filter(c => types.get(c.head).exists(inFiles(_, c.tail)))
      }))
  }

  /** Whether a column has this leaf of a file: a field of a struct may have been dropped. */
  private def inFiles(dataType: DataType, leaf: Seq[String]): Boolean = (dataType, leaf) match {
    case (s: StructType, field +: below) =>
      s.exists(f => folded(physical(f)) == field && inFiles(f.dataType, below))
    case (ArrayType(element, _), _ +: below) => inFiles(element, below)
    case (MapType(key, _, _), "key" +: below) => inFiles(key, below)
    case (MapType(_, value, _), _ +: below) => inFiles(value, below)
    case _ => true
  }

  /** The name in files, which a rename does not change. */
  override def columnId(path: Seq[String]): Option[String] =
    DeltaColumns.fields(schema, path).map(_.map(physical).mkString("."))

  override def refusalOfBounds(paths: Seq[Seq[String]]): Option[ZOrderException] = {
    val kept = snapshot.statCollectionLogicalSchema
    paths.find(p => !DeltaColumns.holds(kept, p)).map { p =>
      new ZOrderException(
        "ZORDER_COLUMN_REFUSED.DELTA_WITHOUT_STATISTICS",
        "column" -> p.mkString("."),
        "table" -> name)
    }
  }

  override def clusteredBy: Option[Seq[String]] = liquid.columns

  override def refusalOfColumns(columns: Seq[String]): Option[ZOrderException] = liquid.refusal(columns)

  override def reclustered(columns: Seq[String]): Option[String] = liquid.reclustered(columns)

  override def otherClusterer(file: DataFile): Option[String] =
    adds.get(file.path).flatMap(liquid.otherClusterer)

  override def hasOthersFiles: Boolean = adds.values.exists(liquid.otherClusterer(_).isDefined)

  override def indexing: Option[FormatIndexing] =
    Some(new DeltaIndexing(log, snapshot, declared.get, adds))

  override def files(): Seq[DataFile] = adds.toSeq.map { case (path, add) =>
    DataFile(
      path,
      add.size,
      add.modificationTime,
      directory(add),
      Some(add.numDeletedRecords),
      if (add.deletionVector == null) 0.0 else add.deletedToPhysicalRecordsRatio.getOrElse(0.0),
      timestamps.boundsOf(add))
  }.sortBy(_.path)

  private[delta] lazy val timestamps = new LoggedTimestamps(schema, physical)

  override def rows(
      session: ClassicSession,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation =
    DeltaRows(session, log, snapshot, partitions, adds)

  override def commitsParts: Boolean = true

  override def checkBeforeRun(): Unit = checkWriter()

  /** Delta itself looks only when it commits whether it knows all features of the table: after all the work. */
  private def checkWriter(): Unit = ActiveSession.during(session) {
    try log.protocolWrite(snapshot.protocol)
    catch {
      case NonFatal(e) => throw ZOrderException.over(
          e,
          "ZORDER_TABLE_REFUSED.DELTA_WRITER_FEATURE",
          "table" -> name,
          "cause" -> ZOrderException.firstLine(e))
    }
  }

  override def begin(runId: String, inputs: Seq[DataFile]): TableWrite =
    new DeltaWrite(this, log, catalogTable, snapshot, adds)

  override def vacuum(retention: Retention, dryRun: Boolean): Seq[VacuumResult] = {
    checkWriter()
    DeltaUpkeep.vacuum(session, this, retention, dryRun)
  }

  override def rollback(statement: String): String = {
    checkWriter()
    new DeltaRollback(session, this).apply(statement)
  }

  override def remove(): Unit = DeltaUpkeep.remove(session, this, fs)

  /** The file's path as Spark's metadata columns write it. */
  private[delta] def fullPath(add: AddFile): String =
    paths.qualified(DeltaFileOperations.absolutePath(log.dataPath.toString, add.path)).toString

  /** Partition directories as Spark writes them, whatever the name of the file's directory is. */
  private[delta] def directory(add: AddFile): String = partitionSchema.map { field =>
    add.partitionValues.getOrElse(physical(field), null) match {
      // Delta reads an empty text as one, and Spark has no directory for it but that of NULL
      case "" if field.dataType.isInstanceOf[StringType] =>
        s"${ExternalCatalogUtils.escapePathName(field.name)}="
      case value =>
        ExternalCatalogUtils.getPartitionPathString(
          field.name,
          Option(value).getOrElse(ExternalCatalogUtils.DEFAULT_PARTITION_NAME))
    }
  }.mkString("/")

  private def physical(field: org.apache.spark.sql.types.StructField): String =
    if (snapshot.columnMappingMode == NoMapping) field.name else DeltaColumnMapping.getPhysicalName(field)

  private def folded(name: String): String = name.toLowerCase(Locale.ROOT)
}

/** Columns by their paths in a schema. */
private object DeltaColumns {

  /** Whether there is such a column, in any spelling, and Delta has min and max of its type, not NULLs alone. */
  def holds(schema: StructType, path: Seq[String]): Boolean =
    fields(schema, path).exists(found => SkippingEligibleDataType(found.last.dataType))

  /** The fields from the top-level column down to the named one. */
  def fields(schema: StructType, path: Seq[String]): Option[Seq[StructField]] =
    StatColumn.fieldsOf(schema, path, _.equalsIgnoreCase(_))

  /** The columns, and fields of structs, as those that files identify by Delta's ids. */
  def numbered(schema: StructType): StructType = StructType(schema.map { f =>
    val dataType = f.dataType match {
      case s: StructType => numbered(s)
      case other => other
    }
    val metadata = new MetadataBuilder().withMetadata(f.metadata)
      .putLong(StoredAs.FieldId, DeltaColumnMapping.getColumnId(f).toLong).build()
    f.copy(dataType = dataType, metadata = metadata)
  })

  /** The ids of all columns, at any depth. */
  def ids(schema: StructType): Set[Int] = {
    var found = Set.empty[Int]
    SchemaMergingUtils.transformColumns(schema) { (_, field, _) =>
      found += DeltaColumnMapping.getColumnId(field)
      field
    }
    found
  }
}

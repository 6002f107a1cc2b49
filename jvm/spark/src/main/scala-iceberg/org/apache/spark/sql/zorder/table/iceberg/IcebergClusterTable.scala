package org.apache.spark.sql.zorder.table.iceberg

import java.net.{URLDecoder, URLEncoder}
import java.nio.ByteBuffer
import java.util.{Map => JMap}

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.iceberg.{
  ContentFile,
  FileScanTask,
  PartitionField,
  PartitionSpec,
  Schema,
  Snapshot,
  Table,
  TableProperties
}
import org.apache.iceberg.io.SupportsPrefixOperations
import org.apache.iceberg.mapping.{NameMapping, NameMappingParser}
import org.apache.iceberg.spark.SparkSchemaUtil
import org.apache.iceberg.transforms.Transform
import org.apache.iceberg.types.{Type, Types}
import org.apache.iceberg.util.ByteBuffers
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.expressions.Literal
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{LeafColumn, StatColumn, StoredAs}
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
import org.apache.spark.sql.zorder.table.storage.ClaimFile
import org.apache.spark.unsafe.types.UTF8String

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

  override def format: String = FormatDescriptor.Iceberg.id

  private[iceberg] val hadoop: Option[FileSystem] = IcebergReach.hadoop(session, table)

  /** How footers are read where Hadoop's file systems, as the session opens them, may not reach them. */
  private[iceberg] val ownFiles: Option[IcebergFiles] =
    if (hadoop.isEmpty || IcebergReach.hasOwnSettings(session, table)) Some(IcebergFiles.of(table)) else None

  /** Whether files that no snapshot has can be found. */
  private[iceberg] def listsFiles: Boolean =
    ownFiles.isEmpty || table.io.isInstanceOf[SupportsPrefixOperations]

  private val staged = new StagedTasks

  /** None for a table that was never written to. */
  val snapshot: Option[Snapshot] = Snapshots.head(table, branch)

  private[iceberg] val changes = new IcebergChanges(table, branch)

  private lazy val tasks: Map[String, FileScanTask] = {
    val planned = snapshot.toSeq.flatMap(Snapshots.tasks(table, _)(_.ignoreResiduals()))
    IcebergRefusals.files(name, planned)
    planned.map(t => t.file.location -> t).toMap
  }

  private lazy val deletes = new IcebergDeletes(tasks.values)

  override def root: Path = {
    val location = new Path(table.location)
    hadoop.fold(location)(_.makeQualified(location))
  }

  override lazy val schema: StructType = IcebergColumns.of(table.schema)
  override def declared: Option[StructType] = Some(schema)
  override def managed: Option[ManagedColumns] = Some(IcebergColumns.managed(table))
  override def columnId(path: Seq[String]): Option[String] = IcebergColumns.id(table, path)
  override def properties: Map[String, String] = table.properties.asScala.toMap

  override def formatOptions: Map[String, String] = IcebergClusterTable.Options

  /** Iceberg's writer has no INT96, and its manifests have bounds. */
  override def boundsBesideFiles: Boolean = true
  override def writesInt96: Boolean = false

  /** Asked once: after a commit, the catalog may fail. */
  private val id = Option(IcebergRefusals.operations(table).current.uuid)

  private lazy val ownState = new FileIOState(table, branch)

  override def state: IcebergState = hadoop.fold[IcebergState](ownState) { fs =>
    new HadoopState(new StateDir(fs, root, branch, id))
  }

  override def hasState(session: ClassicSession): Boolean =
    hadoop.fold(ownState.runs().nonEmpty)(_.exists(new Path(root, StateDir.Name)))

  override private[zorder] def claims(session: ClassicSession, at: Seq[Path]): Seq[ClaimFile] =
    hadoop.fold(Seq(ownState.claim))(fs => at.distinct.flatMap(ClaimFile.beside(fs, _)))

  override def recover(): Unit = state.recover(files().map(DataFile.below(root, _)).toSet)

  override def unfinished: Option[String] = state.notice(name)

  /** Partition values are computed from columns like any other. Those that are columns themselves are `constants`. */
  override def partitionSchema: StructType = new StructType()
  override def partitioned: Boolean = table.spec.isPartitioned

  override def partitionText(escaped: String): String = URLDecoder.decode(escaped, "UTF-8")
  override def constantColumns: Seq[String] = IcebergPartitions.constant(table)
  override def constants(file: DataFile): Map[String, Literal] =
    IcebergPartitions.constants(table, tasks(file.path).file)

  override def refusalOfBounds(paths: Seq[Seq[String]]): Option[ZOrderException] =
    IcebergMetrics.refusalOfBounds(name, table, snapshot, paths)

  override def files(): Seq[DataFile] = tasks.values.map { task =>
    val file = task.file
    DataFile(
      file.location,
      file.fileSizeInBytes,
      0L,
      IcebergPartitions.text(table, file),
      IcebergDeletes.rows(task),
      deletes.share(task),
      own = ownFiles)
  }.toSeq.sortBy(_.path)

  /** Of the main branch: a run on another would forget the files that it does not have. */
  override def indexing: Option[FormatIndexing] =
    if (branch.isEmpty && hadoop.isDefined && IcebergIndexing.isPossible(session, table))
      Some(new IcebergIndexing(table, staged, tasks))
    else None

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

  override def begin(runId: String, inputs: Seq[DataFile]): TableWrite = {
    val start = snapshot.getOrElse(refuse("ZORDER_NO_ROWS_YET.NO_FILES", "table" -> name))
    new IcebergWrite(this, start, tasks, staged, runId)
  }

  override def vacuum(retention: Retention, dryRun: Boolean): Seq[VacuumResult] =
    IcebergVacuum.run(session, this, retention, dryRun)

  override def rollback(statement: String): String = IcebergUpkeep.rollback(this, statement)

  override def remove(): Unit = IcebergUpkeep.remove(this)

  override def close(): Unit = staged.clear(table)
}

private[iceberg] object IcebergClusterTable {

  /** Iceberg's table properties that correspond to an option of ours. */
  private val Options = Map(
    TableProperties.WRITE_TARGET_FILE_SIZE_BYTES -> "targetFileSize",
    TableProperties.PARQUET_ROW_GROUP_SIZE_BYTES -> "rowGroupSize",
    TableProperties.PARQUET_PAGE_ROW_LIMIT -> "pageRowLimit")
}

/** Iceberg identifies columns by field ids, which stay when a column is renamed. */
private object IcebergColumns {

  /** The columns as Spark has them, each with its field id. */
  def of(schema: Schema): StructType = numbered(SparkSchemaUtil.convert(schema), schema.asStruct)

  /** A column's field id, by its current name. */
  def id(table: Table, path: Seq[String]): Option[String] =
    Option(table.schema.findField(path.mkString("."))).map(_.fieldId.toString)

  /** Lists and maps have no statistics that a look-up could use, so the fields inside them are left out. */
  private def numbered(spark: StructType, own: Types.StructType): StructType =
    StructType(spark.fields.zip(own.fields.asScala).map { case (field, nested) =>
      val metadata = new MetadataBuilder().withMetadata(field.metadata)
        .putLong(StoredAs.FieldId, nested.fieldId.toLong)
      // files from before the column have its default, which Spark 3.5 is not told
      if (nested.initialDefault != null) metadata.putBoolean(StatColumn.AbsentIsUnknown, true)
      field.copy(dataType = inside(field.dataType, nested.`type`), metadata = metadata.build())
    })

  private def inside(spark: DataType, own: Type): DataType = (spark, own) match {
    case (s: StructType, o: Types.StructType) => numbered(s, o)
    case _ => spark
  }

  /**
   * Leaves of files under the names that the table now has for their field ids. Files that Iceberg did not write have
   * no field ids and are read by name.
   */
  def managed(table: Table): ManagedColumns = {
    val (schema, names) = (table.schema, mapping(table))
    def number(leaf: LeafColumn): Option[Int] =
      leaf.fieldId.orElse(names.flatMap(m => Option(m.find(leaf.column: _*))).map(_.id.toInt))
        .orElse(Option(schema.findField(leaf.name)).map(_.fieldId))
    ManagedColumns(leaf => number(leaf).flatMap(id => Option(schema.findColumnName(id))).map(Seq(_)))
  }

  /** What the names in files without ids stand for; None if the table says nothing of it. */
  def mapping(table: Table): Option[NameMapping] =
    mappingText(table.properties).map(NameMappingParser.fromJson)

  /** Which columns the names in files without ids stand for, by the properties of a table. */
  def mappingText(properties: JMap[String, String]): Option[String] =
    Option(properties.get(TableProperties.DEFAULT_NAME_MAPPING))
}

/** The partitions of an Iceberg table, whose values are transforms of columns. */
private[iceberg] object IcebergPartitions {

  /**
   * A file's partition in the form of directories, e.g. `ts_day=2026-01-01/id_bucket=3`; empty when
   * unpartitioned. Not Iceberg's own spelling, in which NULL and the text `null` are the same.
   */
  def text(table: Table, file: ContentFile[_]): String = {
    val spec = table.specs.get(file.specId)
    spec.fields.asScala.zipWithIndex.map { case (field, i) =>
      s"${URLEncoder.encode(field.name, "UTF-8")}=${value(spec, field, file, i)}"
    }.mkString("/")
  }

  private def value(spec: PartitionSpec, field: PartitionField, file: ContentFile[_], i: Int): String =
    Option(file.partition.get(i, classOf[Object])) match {
      case None => ExternalCatalogUtils.DEFAULT_PARTITION_NAME
      case Some(found) =>
        val kind = spec.partitionType.fields.get(i).`type`
        val transform = field.transform.asInstanceOf[Transform[Object, Object]]
        URLEncoder.encode(transform.toHumanString(kind, found), "UTF-8")
    }

  /**
   * The columns whose values in the file are those of its partition: Iceberg's readers look into no file for them, and
   * files of other writers may not have them.
   */
  def constants(table: Table, file: ContentFile[_]): Map[String, Literal] =
    table.specs.get(file.specId).fields.asScala.toSeq.zipWithIndex.flatMap { case (field, i) =>
      // no field of a struct, which a condition does not have by a name
      val column = Option(table.schema.asStruct.field(field.sourceId)).filter(_ => field.transform.isIdentity)
      column.flatMap { c =>
        val dataType = SparkSchemaUtil.convert(c.`type`)
        val value = Option(file.partition.get(i, classOf[Object]))
        if (value.isEmpty) Some(c.name -> Literal.create(null, dataType))
        else value.flatMap(IcebergValues.internal(dataType, _)).map(v => c.name -> Literal(v, dataType))
      }
    }.toMap

  /** The columns that have one value in each partition: clustering by them has no effect. */
  def constant(table: Table): Seq[String] =
    table.spec.fields.asScala.filter(_.transform.isIdentity)
      .map(f => table.schema.findColumnName(f.sourceId)).filter(_ != null).toSeq
}

/** Values of partitions, which are Iceberg's own. */
private[zorder] object IcebergValues {

  /** As Spark has it inside; None if it is no value of the type. The type may have become wider since. */
  def internal(dataType: DataType, value: Object): Option[Any] = (dataType, value) match {
    case (IntegerType | DateType, n: Number) => Some(n.intValue)
    case (LongType | TimestampType | TimestampNTZType, n: Number) => Some(n.longValue)
    case (FloatType, n: Number) => Some(n.floatValue)
    case (DoubleType, n: Number) => Some(n.doubleValue)
    case (BooleanType, b: java.lang.Boolean) => Some(b.booleanValue)
    case (d: DecimalType, n: java.math.BigDecimal) if n.precision <= d.precision =>
      Some(Decimal(BigDecimal.exact(n), d.precision, d.scale))
    case (BinaryType, bytes: ByteBuffer) => Some(ByteBuffers.toByteArray(bytes))
    // a UUID is text in Spark
    case (StringType, text) => Some(UTF8String.fromString(text.toString))
    case _ => None
  }
}

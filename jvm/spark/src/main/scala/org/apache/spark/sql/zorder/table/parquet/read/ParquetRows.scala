package org.apache.spark.sql.zorder.table.parquet.read

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.catalog.ExternalCatalogUtils
import org.apache.spark.sql.catalyst.expressions.{Cast, Expression, Literal}
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.{
  FileFormat,
  FileIndex,
  FileStatusCache,
  HadoopFsRelation,
  InMemoryFileIndex,
  LogicalRelation,
  PartitionDirectory
}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{IntegerType, MetadataBuilder, StringType, StructType}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.schema.SchemaUnion
import org.apache.spark.sql.zorder.table.file.{
  DataFile,
  InputRelation,
  OwnScan,
  PartitionValues,
  PathText,
  PinnedPartition
}
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, ListedFile}
import org.apache.spark.unsafe.types.UTF8String
import org.apache.spark.util.HadoopFSUtils

/** The rows of plain Parquet files, with the columns of all footers. */
private[zorder] object ParquetRows {

  /** Without split sizes, so that the same rows written again give the same sample. */
  private val Place: Seq[String] = Seq(InputRelation.SeedColumn, s"${FileFormat.METADATA_NAME}.row_index")

  def apply(
      session: ClassicSession,
      root: Path,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType,
      partitionSchema: StructType): InputRelation = {
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val files = new PinnedFileIndex(root, partitions, partitionSchema, zone)
    val relation =
      HadoopFsRelation(
        files,
        files.partitionSchema,
        asStored(dataSchema),
        None,
        new ParquetFileFormat,
        Map.empty)(session)
    val plan = LogicalRelation(relation)
    val output = plan.output.take(dataSchema.length + partitionSchema.length)
    // beside a column of this name, Spark does not show the place of a row by it
    val shown = !output.exists(_.name.equalsIgnoreCase(FileFormat.METADATA_NAME))
    new InputRelation(plan, output, if (shown) Place else Nil)
  }

  /** CHAR columns as the files hold them: Spark would pad their values, and a rewrite must not change them. */
  private def asStored(schema: StructType): StructType = StructType(schema.map { f =>
    val metadata =
      new MetadataBuilder().withMetadata(
        f.metadata).remove(CharVarcharUtils.CHAR_VARCHAR_TYPE_STRING_METADATA_KEY)
    f.copy(metadata = metadata.build())
  })
}

/**
 * Exactly the files that a run listed at its start: no listing job, no late files. Rows have two more columns: the
 * number of their partition, which leads to its layout, and a number of their file, which is used for sampling (the
 * name of the file would be copied for every row).
 */
final class PinnedFileIndex(
    root: Path,
    val partitions: IndexedSeq[PinnedPartition],
    userPartitionSchema: StructType,
    timeZone: String)
    extends FileIndex
    with OwnScan {

  override def rootPaths: Seq[Path] = Seq(root)

  override val partitionSchema: StructType =
    InputRelation.OwnColumns.foldLeft(userPartitionSchema)(_.add(_, IntegerType, nullable = false))

  /** Spark applies the filters itself; a run reads all of its files. */
  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    for ((partition, number) <- partitions.zipWithIndex; file <- partition.files)
      yield PartitionDirectory(
        InternalRow.fromSeq(values(partition.directory) :+ number :+ PinnedFileIndex.seed(file)),
        Array(status(file)))

  override def inputFiles: Array[String] = partitions.flatMap(_.files.map(_.path)).toArray

  override def refresh(): Unit = ()

  override def sizeInBytes: Long = partitions.iterator.flatMap(_.files).map(_.length).sum

  private def values(directory: String): Seq[Any] =
    PartitionValues.of(directory, userPartitionSchema, timeZone).map(_.value)

  private def status(file: DataFile): FileStatus =
    new FileStatus(file.length, false, 1, PinnedFileIndex.BlockSize, file.modified, new Path(file.path))
}

private object PinnedFileIndex {
  private val BlockSize = 128L << 20

  /** Only the part number of the file's name, so that the same rows written again have the same seed. */
  private def seed(file: DataFile): Int =
    31 * new Path(file.path).getName.take(PartNumber).hashCode + file.length.hashCode

  private val PartNumber = 10
}

/** The schema and the partitions that Spark reads from a directory of Parquet files. */
private[zorder] object PathContent {

  /**
   * @param dataSchema
   *   of the files, as Spark infers it (from one file, unless the session merges schemas)
   * @param actual
   *   the partition directories by the names that Spark would write: `month=1` -> `month=01`
   */
  final case class Content(dataSchema: StructType, partitionSchema: StructType, actual: Map[String, String])

  /**
   * @param tree
   *   listing of the directory, so that Spark need not list it again
   */
  def read(session: ClassicSession, root: Path, tree: DirectoryListing): Content = {
    val listed = new Listed(root, tree)
    val index = new InMemoryFileIndex(session, Seq(root), Map.empty[String, String], None, listed)
    val files = index.allFiles().filter(_.getLen > 0)
    val spec = index.partitionSpec()
    val inFiles =
      if (files.isEmpty) new StructType()
      else inferred(session, root, files.toSeq)
    val resolver = session.sessionState.conf.resolver
    spec.partitionColumns.fieldNames.find(p => inFiles.fieldNames.exists(resolver(_, p))).foreach { p =>
      refuse("ZORDER_TABLE_REFUSED.PARTITION_COLUMN_IN_FILES", "column" -> p, "path" -> root)
    }
    val base = s"${PathText.of(root)}/"
    val actual = spec.partitions.map { p =>
      canonical(session, spec.partitionColumns, p.values) -> p.path.toUri.getPath.stripPrefix(base)
    }
    Content(inFiles, spec.partitionColumns, byValues(root, actual))
  }

  /** Partition directories by the names that Spark would write. Two of one name are refused. */
  def byValues(root: Path, actual: Seq[(String, String)]): Map[String, String] = {
    actual.groupBy(_._1).find(_._2.size > 1).foreach { case (fragment, dirs) =>
      refuse(
        "ZORDER_DIRECTORY_REFUSED.TWO_FOR_ONE_PARTITION",
        "dirs" -> dirs.map(_._2).sorted.mkString(" and "),
        "path" -> root,
        "partition" -> fragment)
    }
    actual.toMap
  }

  /** If Spark fails at a file, our own reading of the footers says at which, and what to do. */
  private def inferred(session: ClassicSession, root: Path, files: Seq[FileStatus]): StructType =
    try new ParquetFileFormat().inferSchema(session, Map.empty, files).getOrElse(new StructType())
    catch {
      case NonFatal(e) =>
        val data = files.map(f => DataFile(f.getPath.toString, f.getLen, f.getModificationTime, ""))
        throw SchemaUnion.refusal(session, root.toString, data).getOrElse(e)
    }

  /** The files of the root that Spark would list. */
  final private class Listed(root: Path, tree: DirectoryListing) extends FileStatusCache {
    private def isSeen(file: ListedFile): Boolean =
      !file.rel.split('/').exists(name => HadoopFSUtils.shouldFilterOutPathName(name))

    override def getLeafFiles(path: Path): Option[Array[FileStatus]] =
      if (path != root) None
      else Some(tree.files.zip(tree.statuses).collect { case (f, status) if isSeen(f) => status }.toArray)

    override def putLeafFiles(path: Path, leafFiles: Array[FileStatus]): Unit = ()
    override def invalidateAll(): Unit = ()
  }

  /** The directories that Spark writes for these partition values. */
  def canonical(session: ClassicSession, columns: StructType, values: InternalRow): String =
    columns.fields.zipWithIndex.map { case (field, i) =>
      val value = Literal(values.get(i, field.dataType), field.dataType)
      val zone = Some(session.sessionState.conf.sessionLocalTimeZone)
      val text = Cast(value, StringType, zone).eval().asInstanceOf[UTF8String]
      ExternalCatalogUtils.getPartitionPathString(field.name, if (text == null) null else text.toString)
    }.mkString("/")
}

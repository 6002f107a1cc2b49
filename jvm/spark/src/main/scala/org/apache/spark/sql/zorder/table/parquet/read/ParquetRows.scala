package org.apache.spark.sql.zorder.table.parquet.read

import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.{
  FileFormat,
  FileIndex,
  HadoopFsRelation,
  LogicalRelation,
  PartitionDirectory
}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{IntegerType, MetadataBuilder, StructType}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{
  DataFile,
  InputRelation,
  OwnScan,
  PartitionValues,
  PinnedPartition
}

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
    val output = plan.output.filterNot(a => InputRelation.OwnColumns.contains(a.name))
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

  /** By length and part number: the rest of a file's name is new each time that the same rows are written. */
  private def seed(file: DataFile): Int =
    31 * new Path(file.path).getName.take(PartNumber).hashCode + file.length.hashCode

  private val PartNumber = 10
}

package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileStatus, Path}

import org.apache.spark.sql.catalyst.InternalRow
import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.execution.datasources.{FileIndex, PartitionDirectory}
import org.apache.spark.sql.types.{IntegerType, StructType}
import org.apache.spark.sql.zorder.table.{DataFile, InputRelation, PartitionValues, PinnedPartition}
import org.apache.spark.sql.zorder.workload.OwnScan

/**
 * Exactly the files that a run listed at its start: no listing job, no late file. Each partition carries
 * one more column, its number, by which rows find the layout of their partition.
 */
final class PinnedFiles(
    root: Path,
    val partitions: IndexedSeq[PinnedPartition],
    userPartitionSchema: StructType,
    timeZone: String)
    extends FileIndex
    with OwnScan {

  override def rootPaths: Seq[Path] = Seq(root)

  override val partitionSchema: StructType =
    userPartitionSchema.add(InputRelation.RouteColumn, IntegerType, nullable = false)

  /** Filters are Spark's to apply: a run reads all of its files. */
  override def listFiles(
      partitionFilters: Seq[Expression],
      dataFilters: Seq[Expression]): Seq[PartitionDirectory] =
    partitions.zipWithIndex.map { case (partition, number) =>
      PartitionDirectory(
        InternalRow.fromSeq(values(partition.directory) :+ number),
        partition.files.map(status).toArray)
    }

  override def inputFiles: Array[String] = partitions.flatMap(_.files.map(_.path)).toArray

  override def refresh(): Unit = ()

  override def sizeInBytes: Long = partitions.iterator.flatMap(_.files).map(_.length).sum

  private def values(directory: String): Seq[Any] =
    PartitionValues.of(directory, userPartitionSchema, timeZone).map(_.value)

  private def status(file: DataFile): FileStatus =
    new FileStatus(file.length, false, 1, PinnedFiles.BlockSize, file.modified, new Path(file.path))
}

private object PinnedFiles {
  private val BlockSize = 128L << 20
}

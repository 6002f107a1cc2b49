package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{FileScanTask, MetadataColumns, Table}
import org.apache.iceberg.spark.SparkReadOptions

import org.apache.spark.sql.catalyst.expressions.{Alias, AttributeReference, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.execution.datasources.v2.DataSourceV2Relation
import org.apache.spark.sql.types.{LongType, StringType}
import org.apache.spark.sql.zorder.expr.layout.{FileNumbers, NumberOfFile}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/** The rows of some files as Iceberg reads them: without deleted rows, with the table's current column names. */
private[iceberg] object IcebergRows {

  /** Spark 3.5 and 4.0 read staged files by this option; 4.1 by the name alone. */
  private val ReadOption = "scan-task-set-id"

  private val Place = Seq(InputRelation.SeedColumn, InputRelation.PositionColumn)

  def apply(
      session: ClassicSession,
      table: Table,
      staged: StagedTasks,
      partitions: IndexedSeq[PinnedPartition],
      tasks: Map[String, FileScanTask]): InputRelation = ActiveSession.during(session) {
    val chosen = partitions.flatMap(_.files).map(f => tasks(f.path))
    val name = staged.forRead(table, chosen.asJava)
    val splitBytes = ReadSplits.bytes(table, chosen, session.sparkContext.defaultParallelism)
    val read = session.read
      .format("iceberg")
      .option(ReadOption, name)
      .option(SparkReadOptions.SPLIT_SIZE, splitBytes)
      .load(name)
    val relation = read.queryExecution.analyzed.collectFirst { case r: DataSourceV2Relation => r }.get
    // Spark does not find them by name beside the row ids of format version 3
    val file = AttributeReference(MetadataColumns.FILE_PATH.name, StringType, nullable = false)()
    val position = AttributeReference(MetadataColumns.ROW_POSITION.name, LongType, nullable = false)()
    val located = relation.copy(output = relation.output ++ Seq(file, position))
    val route =
      if (partitions.length == 1) Literal(0)
      else NumberOfFile(file, FileNumbers(numbers(partitions)))
    val added = Seq(
      Alias(NumberOfFile(file, FileNumbers(seeds(partitions))), InputRelation.SeedColumn)(),
      Alias(position, InputRelation.PositionColumn)(),
      Alias(route, InputRelation.RouteColumn)())
    val plan = Shims.ofRows(session, Project(relation.output ++ added, located)).queryExecution.analyzed
    // format version 3: the ids that rows keep when they are moved
    val own = relation.output.map(_.name).toSet -- table.schema.columns.asScala.map(_.name)
    new InputRelation(plan, relation.output, Place, own)
  }

  /** Only the part number of the file's name, so that the same rows written again give the same sample. */
  private def seeds(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.flatMap(_.files).map(f => f.path -> new Path(f.path).getName.take(5).hashCode).toMap

  private def numbers(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.zipWithIndex.flatMap { case (p, i) => p.files.map(_.path -> i) }.toMap
}

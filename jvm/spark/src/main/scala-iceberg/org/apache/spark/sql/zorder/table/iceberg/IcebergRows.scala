package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{FileScanTask, Table}

import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.expr.{FileRoute, RoutesOfFiles}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{InputRelation, PinnedPartition}

/** Rows of some files as Iceberg reads them: without deleted ones, under the names that the table has now. */
private[iceberg] object IcebergRows {

  /** Spark 3.5 and 4.0 read staged files by this option; 4.1 by the name alone. */
  private val ReadOption = "scan-task-set-id"

  private val File = "_zorder_file"

  /** Of a name only the part number, so that the same rows written again give the same sample. */
  private val Place = Seq("left(substring_index(_file, '/', -1), 5)", "_pos")

  def apply(
      session: ClassicSession,
      table: Table,
      staged: StagedTasks,
      partitions: IndexedSeq[PinnedPartition],
      tasks: Map[String, FileScanTask]): InputRelation = ActiveSession.during(session) {
    val chosen = partitions.flatMap(_.files).map(f => tasks(f.path))
    val name = staged.forRead(table, chosen.asJava)
    val read = session.read.format("iceberg").option(ReadOption, name).load(name)
    val columns = read.columns.toSeq.map(n => read(quoted(n)))
    val located = read.select(columns :+ col("_file").as(File): _*).queryExecution.analyzed
    val route =
      if (partitions.length == 1) Literal(0)
      else FileRoute(located.output.last, new RoutesOfFiles(numbers(partitions)))
    val output = located.output.init
    val plan = Project(output :+ Alias(route, InputRelation.RouteColumn)(), located)
    new InputRelation(Shims.ofRows(session, plan).queryExecution.analyzed, output, Place)
  }

  private def numbers(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.zipWithIndex.flatMap { case (p, i) => p.files.map(_.path -> i) }.toMap

  private def quoted(name: String): String = s"`${name.replace("`", "``")}`"
}

package org.apache.spark.sql.zorder.table.delta

import org.apache.hadoop.fs.{Path => HadoopPath}

import org.apache.spark.sql.Column
import org.apache.spark.sql.catalyst.expressions.{Alias, Literal}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.delta.{DeltaLog, RowTracking, Snapshot}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.functions.col
import org.apache.spark.sql.zorder.expr.layout.{FileNumbers, NumberOfFile}
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/** The rows of some files of a snapshot as Delta reads them: without deleted rows, with the table's column names. */
private[delta] object DeltaRows {

  def apply(
      session: ClassicSession,
      log: DeltaLog,
      snapshot: Snapshot,
      partitions: IndexedSeq[PinnedPartition],
      adds: Map[String, AddFile]): InputRelation = ActiveSession.during(session) {
    val chosen = partitions.flatMap(_.files).map(f => adds(f.path))
    val read = log.createDataFrame(snapshot, chosen, actionTypeOpt = Some("Optimize"))
    val tracked = RowTracking.preserveRowTrackingColumns(read, snapshot)
    val names = tracked.columns.toSeq
    val path: Column = col("_metadata.file_path").as(InputRelation.PathColumn)
    val located = tracked.select(names.map(n => tracked(quoted(n))) :+ path: _*).queryExecution.analyzed
    val route =
      if (partitions.length == 1) Literal(0)
      else NumberOfFile(located.output.last, FileNumbers(numbers(partitions)))
    val output = located.output.init
    val plan = Project(output :+ Alias(route, InputRelation.RouteColumn)(), located)
    // row tracking keeps its row ids in columns of its own
    val own = names.toSet -- snapshot.schema.fieldNames
    // only some tables show the position of a row in its file: sampling counts rows itself
    new InputRelation(Shims.ofRows(session, plan).queryExecution.analyzed, output, place = Nil, own)
  }

  /** Partition numbers by path, spelt as in `_metadata.file_path`. */
  private def numbers(partitions: IndexedSeq[PinnedPartition]): Map[String, Int] =
    partitions.zipWithIndex.flatMap { case (p, i) =>
      p.files.map(f => new HadoopPath(f.path).toUri.toString -> i)
    }.toMap

  private def quoted(name: String): String = s"`${name.replace("`", "``")}`"
}

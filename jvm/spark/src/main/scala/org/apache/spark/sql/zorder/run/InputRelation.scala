package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** The rows of the pinned files, with the columns of all their footers. */
final class InputRelation(val plan: LogicalPlan, columns: Int) {

  /** Data columns, then partition columns: what is written back. */
  val output: Seq[Attribute] = plan.output.take(columns)

  /** The number of the row's partition. */
  val route: Attribute = plan.output.find(_.name == PinnedFiles.RouteColumn).get
}

object InputRelation {
  def apply(session: ClassicSession, files: PinnedFiles, dataSchema: StructType): InputRelation = {
    val relation =
      HadoopFsRelation(
        files,
        files.partitionSchema,
        dataSchema,
        None,
        new ParquetFileFormat,
        Map.empty)(session)
    new InputRelation(LogicalRelation(relation), dataSchema.length + files.partitionSchema.length - 1)
  }
}

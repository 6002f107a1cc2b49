package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.catalyst.expressions.Attribute
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{MetadataBuilder, StructField, StructType}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** The rows of the pinned files, with the columns of all their footers. */
final class InputRelation(val plan: LogicalPlan, columns: Int) {

  /** Data columns, then partition columns: what is written back. */
  val output: Seq[Attribute] = plan.output.take(columns)

  /** Their names and types. */
  def schema: StructType =
    StructType(output.map(a => StructField(a.name, a.dataType, a.nullable, a.metadata)))

  /** The number of the row's partition. */
  val route: Attribute = plan.output.find(_.name == PinnedFiles.RouteColumn).get
}

object InputRelation {

  /** CHAR columns as the files hold them: Spark would pad their values, and the rewrite would change them. */
  private def asStored(schema: StructType): StructType = StructType(schema.map { f =>
    val metadata =
      new MetadataBuilder().withMetadata(
        f.metadata).remove(CharVarcharUtils.CHAR_VARCHAR_TYPE_STRING_METADATA_KEY)
    f.copy(metadata = metadata.build())
  })

  def apply(session: ClassicSession, files: PinnedFiles, dataSchema: StructType): InputRelation = {
    val relation =
      HadoopFsRelation(
        files,
        files.partitionSchema,
        asStored(dataSchema),
        None,
        new ParquetFileFormat,
        Map.empty)(session)
    new InputRelation(
      LogicalRelation(relation),
      dataSchema.length + files.partitionSchema.length - PinnedFiles.ownColumns.length)
  }
}

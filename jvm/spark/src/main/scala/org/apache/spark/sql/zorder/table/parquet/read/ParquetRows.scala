package org.apache.spark.sql.zorder.table.parquet.read

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.util.CharVarcharUtils
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat
import org.apache.spark.sql.types.{MetadataBuilder, StructType}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}

/** The rows of plain Parquet files, with the columns of all footers. */
private[zorder] object ParquetRows {

  /** Without split sizes, so that the same rows written again give the same sample. */
  private val Place: Seq[String] = Seq(InputRelation.SeedColumn, "_metadata.row_index")

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
    new InputRelation(plan, plan.output.take(dataSchema.length + partitionSchema.length), Place)
  }

  /** CHAR columns as the files hold them: Spark would pad their values, and a rewrite must not change them. */
  private def asStored(schema: StructType): StructType = StructType(schema.map { f =>
    val metadata =
      new MetadataBuilder().withMetadata(
        f.metadata).remove(CharVarcharUtils.CHAR_VARCHAR_TYPE_STRING_METADATA_KEY)
    f.copy(metadata = metadata.build())
  })
}

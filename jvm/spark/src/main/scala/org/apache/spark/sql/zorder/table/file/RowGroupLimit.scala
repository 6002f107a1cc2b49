package org.apache.spark.sql.zorder.table.file

import org.apache.parquet.hadoop.ParquetOutputFormat

/** When Parquet's writer ends a row group: after a number of bytes, or of rows if these come first. */
private[zorder] object RowGroupLimit {

  /** The setting of rows. */
  val Key = "parquet.block.row.count.limit"

  /** Parquet has it since 1.16, so Spark has it since 4.1. */
  val supported: Boolean =
    classOf[ParquetOutputFormat[_]].getFields.exists(f => f.getType == classOf[String] && f.get(null) == Key)

  /** Bytes as the writers of Iceberg and Hudi take them: as an INT. */
  def intBytes(bytes: String): String = math.min(bytes.toLong, Int.MaxValue.toLong).toString
}

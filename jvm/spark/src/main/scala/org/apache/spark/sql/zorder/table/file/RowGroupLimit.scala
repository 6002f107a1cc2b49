package org.apache.spark.sql.zorder.table.file

import org.apache.parquet.hadoop.ParquetOutputFormat

/**
 * The setting by which Parquet's writer ends a row group after a number of rows, if its bytes do not come
 * first.
 */
private[zorder] object RowGroupLimit {
  val Key = "parquet.block.row.count.limit"

  /** Parquet has it since 1.16, so Spark has it since 4.1. */
  val supported: Boolean =
    classOf[ParquetOutputFormat[_]].getFields.exists(f => f.getType == classOf[String] && f.get(null) == Key)
}

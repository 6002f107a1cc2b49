package org.apache.spark.sql.zorder.table.iceberg

import org.apache.iceberg.{
  BaseFileScanTask,
  DataFile,
  DeleteFile,
  FileScanTask,
  PartitionSpecParser,
  SchemaParser,
  Table
}
import org.apache.iceberg.expressions.{Expressions, ResidualEvaluator}

/** A file that no snapshot has yet. */
private[iceberg] object UncommittedFile {

  /** To read all rows of it as the table has them. */
  def task(table: Table, file: DataFile): FileScanTask = new BaseFileScanTask(
    file,
    Array.empty[DeleteFile],
    SchemaParser.toJson(table.schema),
    PartitionSpecParser.toJson(table.spec),
    ResidualEvaluator.unpartitioned(Expressions.alwaysTrue))
}

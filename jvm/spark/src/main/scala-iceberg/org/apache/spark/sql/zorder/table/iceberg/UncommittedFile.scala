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

/** A file that is in no snapshot yet. */
private[iceberg] object UncommittedFile {

  /** A task that reads all rows of the file. */
  def task(table: Table, file: DataFile): FileScanTask = new BaseFileScanTask(
    file,
    Array.empty[DeleteFile],
    SchemaParser.toJson(table.schema),
    PartitionSpecParser.toJson(table.spec),
    ResidualEvaluator.unpartitioned(Expressions.alwaysTrue))
}

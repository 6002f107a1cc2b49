package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.{ClusterTable, StateDir}

/** A plain Parquet table, known by path or by name. */
private[zorder] trait ParquetTable extends ClusterTable {

  def store: JournalStore

  override def state: StateDir

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path]
}

package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.{ClusterTable, StateDir}

/** A plain Parquet table, known by path or by name. */
private[zorder] trait ParquetTable extends ClusterTable {

  def store: JournalStore

  /** What the journals of this very table say in `table`. */
  def identity: String

  /** True for journals of this table, not of a dropped one that lay at the same place. */
  def owns(journal: Journal): Boolean = journal.table == identity || journal.kind == "path"

  /** Finished commits of this table whose old files may still be there, oldest first. */
  def doneJournals(): Seq[Journal] =
    store.all().filter(j => j.state == JournalState.Done && owns(j))

  override def state: StateDir

  /** Where the data of each partition is now, by the partition's directories ("" when unpartitioned). */
  def liveDirs(): Map[String, Path]
}

package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{FileScanTask, Snapshot, Table, TableScan}

private[iceberg] object Snapshots {

  /** The newest snapshot of a branch, or of the table; None if it was never written to. */
  def head(table: Table, branch: Option[String]): Option[Snapshot] =
    Option(branch.fold(table.currentSnapshot)(table.snapshot(_)))

  /** A task for each data file of a snapshot, with the deletes that are to be applied to it. */
  def tasks(table: Table, snapshot: Snapshot)(scan: TableScan => TableScan): List[FileScanTask] = {
    val planned = scan(table.newScan().useSnapshot(snapshot.snapshotId)).planFiles()
    try planned.asScala.toList
    finally planned.close()
  }
}

package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.iceberg.{FileScanTask, Snapshot, Table, TableScan}

private[zorder] object Snapshots {

  /** The newest snapshot of a branch, or of the table; None if it was never written to. */
  def head(table: Table, branch: Option[String]): Option[Snapshot] =
    Option(branch.fold(table.currentSnapshot)(table.snapshot(_)))

  /** A number of the snapshot's summary; None if its writer has not put it there. */
  def number(snapshot: Snapshot, property: String): Option[Long] =
    Option(snapshot.summary).flatMap(s => Option(s.get(property))).map(_.toLong)

  /** A task for each data file of a snapshot, with the deletes that are to be applied to it. */
  def tasks(table: Table, snapshot: Snapshot)(scan: TableScan => TableScan): List[FileScanTask] = {
    val planned = scan(table.newScan().useSnapshot(snapshot.snapshotId)).planFiles()
    try planned.asScala.toList
    finally planned.close()
  }
}

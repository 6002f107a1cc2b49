package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{Snapshot, SnapshotChanges, Table, TableProperties}
import org.apache.iceberg.spark.actions.SparkActions
import org.apache.iceberg.util.{PropertyUtil, SnapshotUtil}

import org.apache.spark.sql.zorder.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.Vacuumed

/** Iceberg's expiry of snapshots, and its removal of files that runs left behind which died. */
private[iceberg] object IcebergVacuum {

  def run(
      session: ClassicSession,
      opened: IcebergClusterTable,
      keepMs: Long,
      dryRun: Boolean): Seq[Vacuumed] = ActiveSession.during(session) {
    import opened.{name, table}
    if (!PropertyUtil.propertyAsBoolean(
        table.properties,
        TableProperties.GC_ENABLED,
        TableProperties.GC_ENABLED_DEFAULT))
      refuse(s"Files of $name must not be deleted: its property ${TableProperties.GC_ENABLED} is false.")
    val before = System.currentTimeMillis - keepMs
    val replaced = removedBefore(table, before)
    val expired = if (dryRun) replaced.size.toLong else expire(session, table, before)
    val files = expired + orphans(session, opened, before, dryRun)
    if (files == 0) Nil else Seq(Vacuumed(opened.root, files, replaced.map(_._2).sum, 0L, "DELETED"))
  }

  private def expire(session: ClassicSession, table: Table, before: Long): Long =
    SparkActions.get(session).expireSnapshots(table).expireOlderThan(before).execute().deletedDataFilesCount

  /** Files that expired snapshots alone hold: those that the first one kept, or one before it, removed. */
  private def removedBefore(table: Table, before: Long): Seq[(String, Long)] = {
    val chain = SnapshotUtil.currentAncestors(table).asScala.toSeq
    val (kept, expired) = chain.span(s => s.timestampMillis >= before || chain.headOption.contains(s))
    val remove = if (expired.isEmpty) Nil else expired :+ kept.last
    remove.flatMap(removed(table, _)).distinct
  }

  private def removed(table: Table, snapshot: Snapshot): Seq[(String, Long)] =
    SnapshotChanges.builderFor(table).snapshot(snapshot).build().removedDataFiles.asScala
      .map(f => f.location -> f.fileSizeInBytes).toSeq

  private def orphans(
      session: ClassicSession,
      opened: IcebergClusterTable,
      before: Long,
      dryRun: Boolean): Long = {
    val action = SparkActions.get(session).deleteOrphanFiles(opened.table).olderThan(before)
      .location(new Path(opened.table.location, "data").toString)
    val chosen = if (dryRun) action.deleteWith(_ => ()) else action
    chosen.execute().orphanFileLocations.asScala.size.toLong
  }
}

package org.apache.spark.sql.zorder.table.iceberg

import scala.collection.JavaConverters._

import org.apache.hadoop.fs.Path
import org.apache.iceberg.{
  BaseTable,
  Snapshot,
  SnapshotRef,
  SnapshotSummary,
  Table,
  TableMetadata,
  TableProperties
}
import org.apache.iceberg.exceptions.ValidationException
import org.apache.iceberg.spark.actions.SparkActions
import org.apache.iceberg.util.{PropertyUtil, SnapshotUtil}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.conf.ZOrderOption
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{Retention, RunRecord, VacuumResult, VacuumStatus}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** Rollback and removal, with Iceberg's own operations. */
private[iceberg] object IcebergUpkeep {

  /** Returns to the snapshot before the last run. Refused if others have committed since, which would be lost. */
  def rollback(opened: IcebergClusterTable, said: String): String = {
    import opened.{name, table}
    val commits = opened.state.lastRun()
    val snapshots = commits.flatMap(_.version)
    if (snapshots.isEmpty) opened.refuseNoRun()
    val run = commits.last
    def parentOf(id: Long): Option[Long] =
      Option(table.snapshot(id)).flatMap(s => Option(s.parentId)).map(id => id: Long)
    val current = opened.snapshot.map(_.snapshotId)
    // from the current snapshot back, as many as the run has made
    val line = Iterator.iterate(current)(_.flatMap(parentOf)).take(snapshots.length).flatten.toSeq.reverse
    val before = parentOf(snapshots.head).filter(table.snapshot(_) != null)
    if (current.isDefined && current == before) () // by a rollback that died before its record
    else if (line == snapshots) {
      val parent = before.getOrElse(
        refuse("ZORDER_CANNOT_ROLL_BACK.ICEBERG_SNAPSHOT_EXPIRED", "run" -> run.runId, "table" -> name))
      CrashPoint.hit("iceberg-rolling-back")
      val manage = unlessWritten(opened, snapshots.last).manageSnapshots()
      try opened.branch.fold(manage.rollbackTo(parent))(manage.replaceBranch(_, parent)).commit()
      catch { case e: Written => refuseWritten(opened, run, snapshots, e.now) }
    } else refuseWritten(opened, run, snapshots, current)
    opened.state.writeRollback(run, said)
    run.runId
  }

  /** Somebody has committed since the check. */
  final private class Written(val now: Option[Long])
      extends ValidationException("The snapshot is %s now", now.getOrElse("none").toString)

  /** The table, whose commits fail with [[Written]] if the newest snapshot, or that of the branch, is another by then. */
  private def unlessWritten(opened: IcebergClusterTable, newest: Long): Table = {
    val branch = opened.branch.getOrElse(SnapshotRef.MAIN_BRANCH)
    val own = IcebergRefusals.operations(opened.table)
    val checked = new CheckedOperations(own) {
      override protected def check(base: TableMetadata, next: TableMetadata): Unit = {
        val now = Option(base.ref(branch)).map(ref => ref.snapshotId: Long)
        if (!now.contains(newest)) throw new Written(now)
      }
    }
    new BaseTable(checked, opened.table.name)
  }

  private def refuseWritten(
      opened: IcebergClusterTable,
      run: RunRecord,
      snapshots: Seq[Long],
      now: Option[Long]): Nothing =
    refuse(
      "ZORDER_CANNOT_ROLL_BACK.ICEBERG_WRITTEN_SINCE",
      "table" -> opened.name,
      "run" -> run.runId,
      "snapshots" -> snapshots.mkString(", "),
      "now" -> now.getOrElse("none"))

  /** The table's files stay, and so do its snapshots, whose summaries cannot be changed. */
  def remove(opened: IcebergClusterTable): Unit = {
    val delete = opened.state.deletion()
    val ours = opened.properties.keys.filter(ZOrderOption.isOurs)
    // before the state goes: whoever may not alter the table keeps both
    if (ours.nonEmpty) {
      val update = opened.table.updateProperties()
      ours.foreach(update.remove)
      update.commit()
    }
    delete()
  }
}

/** Iceberg's expiry of snapshots, and its removal of files that dead runs have left. */
private[iceberg] object IcebergVacuum extends Logging {

  /** What `remove_orphan_files` keeps by default: the file of a writer at work is in no snapshot yet. */
  private val OrphanMs = 3L * 24 * 3600 * 1000

  /** Iceberg's procedure removes no younger ones, whatever it is told. */
  private val LeastOrphanMs = 24L * 3600 * 1000

  /**
   * A branch that has a retention of its own, and the number of snapshots to keep at least, are Iceberg's business:
   * its expiry heeds them whatever the statement says.
   */
  def run(
      session: ClassicSession,
      opened: IcebergClusterTable,
      retention: Retention,
      dryRun: Boolean): Seq[VacuumResult] = ActiveSession.during(session) {
    import opened.{name, table}
    if (!PropertyUtil.propertyAsBoolean(
        table.properties,
        TableProperties.GC_ENABLED,
        TableProperties.GC_ENABLED_DEFAULT))
      refuse(
        "ZORDER_CANNOT_VACUUM.ICEBERG_GC_DISABLED",
        "table" -> name,
        "setting" -> TableProperties.GC_ENABLED)
    val now = System.currentTimeMillis
    val before = now - retention.atLeast(ownMs(table))
    // asked before the expiry, which is a commit: beside it, what others have committed looks old
    val others = if (opened.listsFiles) SharedLocation.others(opened) else None
    val isForked = others.exists(_.mayBeFork)
    val replaced = if (isForked) Nil else removingSnapshots(table, before)
    val expired =
      if (dryRun || isForked) replaced.flatMap(Snapshots.number(_, SnapshotSummary.DELETED_FILES_PROP)).sum
      else expire(session, table, before)
    val found =
      if (others.isDefined) 0L
      else orphans(session, opened, now - math.max(LeastOrphanMs, retention.atLeast(OrphanMs)), dryRun)
    val files = expired + found
    val bytes = replaced.flatMap(Snapshots.number(_, SnapshotSummary.REMOVED_FILE_SIZE_PROP)).sum
    val deleted =
      if (files == 0) Nil else Seq(VacuumResult(opened.root, files, bytes, 0L, VacuumStatus.Deleted))
    deleted ++ others.map(other =>
      VacuumResult(opened.root, 0L, 0L, 0L, VacuumStatus.SharedLocation(other.why(name))))
  }

  private def ownMs(table: Table): Long = PropertyUtil.propertyAsLong(
    table.properties,
    TableProperties.MAX_SNAPSHOT_AGE_MS,
    TableProperties.MAX_SNAPSHOT_AGE_MS_DEFAULT)

  private def expire(session: ClassicSession, table: Table, before: Long): Long =
    SparkActions.get(session).expireSnapshots(table).expireOlderThan(before).execute().deletedDataFilesCount

  /**
   * The snapshots of the main branch that removed files which only expired snapshots still hold: the expired ones
   * themselves, and the oldest one that is kept. Iceberg says which expire, without a commit.
   */
  private def removingSnapshots(table: Table, before: Long): Seq[Snapshot] = {
    val expired = table.expireSnapshots().expireOlderThan(before).apply().asScala.map(_.snapshotId).toSet
    val chain = SnapshotUtil.currentAncestors(table).asScala.toList
    // what the last one removed was held by a parent that is gone
    chain.drop(chain.lastIndexWhere(s => !expired(s.snapshotId))).dropRight(1)
  }

  private def orphans(
      session: ClassicSession,
      opened: IcebergClusterTable,
      before: Long,
      dryRun: Boolean): Long = {
    // `write.data.path` may lead to a directory of several tables
    val data = new Path(opened.table.location, "data")
    def action =
      SparkActions.get(session).deleteOrphanFiles(opened.table).olderThan(before).location(data.toString)
    if (opened.hadoop.exists(!_.exists(data))) 0L
    else if (opened.listsFiles) {
      val listed = if (opened.ownFiles.isEmpty) action else action.usePrefixListing(true)
      val chosen = if (dryRun) listed.deleteWith(_ => ()) else listed
      chosen.execute().orphanFileLocations.asScala.size.toLong
    } else {
      val io = opened.table.io.getClass.getName
      logWarning(s"$io cannot list files: what dead runs have left in ${opened.name} stays")
      0L
    }
  }
}

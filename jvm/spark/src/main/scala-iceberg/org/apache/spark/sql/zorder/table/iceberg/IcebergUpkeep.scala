package org.apache.spark.sql.zorder.table.iceberg

import java.util.Locale

import org.apache.hadoop.fs.FileSystem

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse

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
      val parent = before.getOrElse(refuse(s"The snapshot before the run ${run.runId} of $name has expired."))
      val manage = table.manageSnapshots()
      opened.branch.fold(manage.rollbackTo(parent))(manage.replaceBranch(_, parent)).commit()
    } else
      refuse(s"$name was written to, or rolled back, after the run ${run.runId} began (snapshot " +
        s"${snapshots.mkString(", ")}, now ${current.getOrElse("none")}), and going back would lose that; use " +
        "Iceberg's rollback_to_snapshot if you mean it.")
    opened.state.writeRollback(run, said)
    run.runId
  }

  /** The table's files stay, and so do its snapshots, whose summaries cannot be changed. */
  def remove(opened: IcebergClusterTable, fs: FileSystem): Unit = {
    fs.delete(opened.state.dir, true)
    val ours = opened.properties.keys.filter(_.toLowerCase(Locale.ROOT).startsWith("zorder."))
    if (ours.nonEmpty) {
      val update = opened.table.updateProperties()
      ours.foreach(update.remove)
      update.commit()
    }
  }
}

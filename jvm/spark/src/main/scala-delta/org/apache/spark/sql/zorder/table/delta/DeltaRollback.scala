package org.apache.spark.sql.zorder.table.delta

import scala.util.control.NonFatal

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.delta.{DeltaOperations, Snapshot}
import org.apache.spark.sql.delta.actions.{Action, AddFile, CommitInfo, DeletionVectorDescriptor, Metadata}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/**
 * Delta's RESTORE to the version before the last run. It is refused if versions that came between or after the run's
 * commits are not harmless, because rows of others would be lost. RESTORE also takes back properties and comments, so
 * a further commit sets them again.
 */
final private[delta] class DeltaRollback(session: ClassicSession, table: DeltaClusterTable) {
  import table.{log, name}

  def apply(statement: String): String = ActiveSession.during(session) {
    val commits = table.state.lastRun()
    val versions = commits.flatMap(_.version)
    if (versions.isEmpty) table.refuseNoRun()
    val run = commits.last.runId
    val before = at(versions.head - 1, run)
    val since = changes(versions.head, run)
    val restored = since.collectFirst {
      case (v, actions) if v > versions.last && restores(actions, before.version) => v
    }
    HarmlessVersions.firstOther(since, before.metadata, versions.toSet ++ restored).foreach { v =>
      refuse(
        s"$name was written to after the run $run began (version ${versions.mkString(", ")}, now " +
          s"${table.version}; ${operation(since, v)} made version $v), and RESTORE would lose that; use Delta's " +
          "RESTORE if you mean it.")
    }
    restored match {
      case None =>
        refuseGone(before, run)
        session.sql(s"RESTORE TABLE ${DeltaUpkeep.sql(table)} TO VERSION AS OF ${before.version}").collect()
        CrashPoint.hit("delta-restored")
        keep(table.snapshot.metadata, before.metadata)
      // by a rollback that died: what came after it is newer than what it would have set again
      case Some(v) => if (v == table.version) keep(at(v - 1, run).metadata, before.metadata)
    }
    table.state.writeRollback(commits.last, statement)
    run
  }

  /** Sets again what RESTORE took back, unless somebody has changed it meanwhile. */
  private def keep(metadata: Metadata, restored: Metadata): Unit = {
    val now = log.update()
    if (now.metadata == restored && metadata != restored) {
      val txn = log.startTransaction(table.catalogTable, Some(now))
      txn.updateMetadata(metadata)
      txn.commit(Nil, DeltaOperations.SetTableProperties(metadata.configuration))
    }
    ()
  }

  private def at(version: Long, run: String): Snapshot =
    try log.getSnapshotAt(version)
    catch { case NonFatal(_) => unreadable(version, run) }

  private def changes(from: Long, run: String): Seq[(Long, Seq[Action])] = {
    val found = log.getChanges(from).map { case (v, actions) => v -> actions.toSeq }.toList
    (from to table.version).find(v => !found.exists(_._1 == v)).foreach(unreadable(_, run))
    found.filter(_._1 <= table.version)
  }

  private def unreadable(version: Long, run: String): Nothing =
    refuse(
      s"The run $run of $name cannot be rolled back: Delta's log does not hold version $version any more.")

  private def restores(actions: Seq[Action], version: Long): Boolean = actions.exists {
    case c: CommitInfo =>
      c.operation == "RESTORE" && c.operationParameters.get("version").exists(_.trim == version.toString)
    case _ => false
  }

  private def operation(changes: Seq[(Long, Seq[Action])], version: Long): String =
    changes.filter(_._1 == version).flatMap(_._2).collectFirst { case c: CommitInfo => c.operation }
      .getOrElse("somebody")

  private def refuseGone(before: Snapshot, run: String): Unit = {
    val present = table.files().map(f => new Path(f.path)).toSet
    val needed = before.allFiles.collect().toSeq.flatMap(parts).filterNot(present)
    val fs = table.root.getFileSystem(session.sessionState.newHadoopConf())
    val there = DeltaUpkeep.lengths(fs, needed)
    needed.map(fs.makeQualified).find(!there.contains(_)).foreach { gone =>
      refuse(
        s"The files before the run $run of $name were deleted by a vacuum ($gone is gone): it cannot be " +
          "rolled back any more.")
    }
  }

  /** A file and its deletion vector. */
  private def parts(add: AddFile): Seq[Path] =
    new Path(table.fullPath(add)) +:
      Option(add.deletionVector).filter(_.storageType != DeletionVectorDescriptor.INLINE_DV_MARKER)
        .map(_.absolutePath(log.dataPath)).toSeq
}

package org.apache.spark.sql.zorder.table.delta

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.commons.lang3.exception.ExceptionUtils
import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.delta.{
  DeltaConcurrentModificationException,
  DeltaConfigs,
  DeltaLog,
  DeltaOperations,
  Snapshot
}
import org.apache.spark.sql.delta.actions.{Action, AddFile, CommitInfo, DeletionVectorDescriptor, Metadata}
import org.apache.spark.sql.delta.zorder.PinnedTransaction
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.conf.ZOrderOption
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.{ActiveSession, Shims}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{
  FormatDescriptor,
  Retention,
  RunRecord,
  TableRef,
  VacuumResult,
  VacuumStatus
}
import org.apache.spark.sql.zorder.table.file.DataFile
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, RunClaim, TextFiles}

/** Vacuum and removal, with Delta's own commands where it has them. */
private[delta] object DeltaUpkeep {
  private val MillisPerHour = 3600000L
  private val DayMs = 24 * MillisPerHour

  /** From 4.1 on Delta passes over every RETAIN but that of 0 hours, unless this is false. */
  private val RetainIgnored = "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled"

  /**
   * Delta's VACUUM. It deletes rewritten files, and those of runs that died before their commit. Delta's own retention
   * is left to Delta: it stands where it is the longer one, and a statement with a shorter one gets Delta's answer.
   */
  def vacuum(
      session: ClassicSession,
      table: DeltaClusterTable,
      retention: Retention,
      dryRun: Boolean): Seq[VacuumResult] = {
    val ownMs = DeltaLog.tombstoneRetentionMillis(table.snapshot.metadata)
    val keepMs = retention.atLeast(ownMs)
    val retain = if (keepMs == ownMs) "" else s" RETAIN ${hours(keepMs)} HOURS"
    // a session may say LITE, which does not find the files of dead runs
    val statement = s"VACUUM ${sql(table)} FULL$retain"
    val within = if (keepMs > ownMs) heeding(session) else session
    // asked before the listing, which may take long, and after it
    val mayTakeStaged = !dryRun && keepMs < math.max(ownMs, DayMs)
    if (mayTakeStaged) refuseDuringRun(session, table)
    val named =
      try within.sql(s"$statement DRY RUN").collect().map(_.getString(0))
      catch { case e: IllegalArgumentException if isTooShort(e) => refuseTooShort(table, keepMs, ownMs, e) }
    // Delta also names directories without files
    val found = lengths(table.paths, named.toSeq.map(new Path(_)))
    if (!dryRun) {
      if (mayTakeStaged) refuseDuringRun(session, table)
      within.sql(statement).collect()
    }
    if (found.isEmpty) Nil
    else Seq(VacuumResult(table.root, found.size.toLong, found.values.sum, 0L, VacuumStatus.Deleted))
  }

  /** Until its commit, the new files of a run are in no version, and may be older than a short retention. */
  private def refuseDuringRun(session: ClassicSession, table: DeltaClusterTable): Unit =
    RunClaim.holder(table.claims(session, table.roots)).foreach { run =>
      throw new ZOrderConflictException(
        "ZORDER_CONFLICT.VACUUM_DURING_RUN",
        "run" -> run,
        "table" -> table.name)
    }

  /** Delta rounds to whole hours, which must not become fewer. */
  private def hours(ms: Long): Long = ms / MillisPerHour + math.min(1L, ms % MillisPerHour)

  /** A session in which Delta heeds a RETAIN that is longer than its own retention. */
  private def heeding(session: ClassicSession): ClassicSession = {
    val own = Shims.cloneSession(session)
    own.conf.set(RetainIgnored, "false")
    own
  }

  /** Whether it is from the check of the retention, for which Delta has no class of its own. */
  private def isTooShort(e: IllegalArgumentException): Boolean =
    Option(e.getMessage).exists(_.contains("retention period"))

  private def refuseTooShort(table: DeltaClusterTable, keepMs: Long, ownMs: Long, e: Throwable): Nothing =
    throw ZOrderException.over(
      e,
      "ZORDER_CANNOT_VACUUM.DELTA_RETENTION",
      "table" -> table.name,
      "hours" -> hours(keepMs),
      "own" -> hours(ownMs))

  /** The lengths of those files that exist, with one listing for each directory. */
  def lengths(paths: DeltaPaths, files: Seq[Path]): Map[Path, Long] = {
    val wanted = files.map(paths.qualified).toSet
    wanted.map(_.getParent).toSeq.flatMap(dir => TextFiles.children(paths.fileSystem(dir), dir))
      .filter(s => s.isFile && wanted(paths.qualified(s.getPath)))
      .map(s => paths.qualified(s.getPath) -> s.getLen).toMap
  }

  def remove(session: ClassicSession, table: DeltaClusterTable, fs: FileSystem): Unit = {
    val ours = table.properties.keys.filter(ZOrderOption.isOurs).toSeq
    // before the state goes: whoever may not alter the table keeps both
    if (ours.nonEmpty) {
      val keys = ours.map(TableRef.literal).mkString(", ")
      session.sql(s"ALTER TABLE ${sql(table)} UNSET TBLPROPERTIES ($keys)").collect()
    }
    fs.delete(table.state.dir, true)
    ()
  }

  def sql(table: DeltaClusterTable): String =
    TableRef.Name(Seq(FormatDescriptor.Delta.id, table.root.toString)).sql
}

/**
 * Delta's RESTORE to the version before the last run. It is refused if versions that came between or after the run's
 * commits are not harmless, because rows of others would be lost. Delta fails a RESTORE beside which somebody commits,
 * but would begin it after whatever has come since the check. So it may begin at the checked version only, and the
 * versions are checked again if others were faster. RESTORE also takes back properties and comments, so a further commit
 * sets them again.
 */
final private[delta] class DeltaRollback(session: ClassicSession, table: DeltaClusterTable) {
  import table.{log, name}

  def apply(statement: String): String = ActiveSession.during(session) {
    val commits = table.state.lastRun()
    val first = commits.flatMap(_.version).headOption.getOrElse(table.refuseNoRun())
    val run = commits.last.runId
    if (DeltaConfigs.IS_APPEND_ONLY.fromMetaData(log.update().metadata))
      refuse("ZORDER_CANNOT_ROLL_BACK.DELTA_APPEND_ONLY", "run" -> run, "table" -> name)
    goBack(at(first - 1, run), commits, run, DeltaRollback.Attempts)
    table.state.writeRollback(commits.last, statement)
    run
  }

  @tailrec
  private def goBack(before: Snapshot, commits: Seq[RunRecord], run: String, attempts: Int): Unit = {
    val now = log.update()
    restored(before, commits, run, now) match {
      // by a rollback that died: what came after it is newer than what it would have set again
      case Some(v) => if (v == now.version) keep(at(v - 1, run).metadata, before.metadata)
      case None =>
        refuseGone(before, run)
        CrashPoint.hit("delta-restoring")
        if (restore(before.version, now.version, orElse = attempts == 1)) {
          CrashPoint.hit("delta-restored")
          keep(now.metadata, before.metadata)
        } else goBack(before, commits, run, attempts - 1)
    }
  }

  /**
   * False if somebody has committed since the checked version.
   *
   * @param orElse
   *   whether that is an error
   */
  private def restore(version: Long, checked: Long, orElse: Boolean): Boolean =
    try {
      PinnedTransaction.at(checked, () => CrashPoint.hit("delta-restore-begun")) {
        unlimited.sql(s"RESTORE TABLE ${DeltaUpkeep.sql(table)} TO VERSION AS OF $version").collect()
      }
      true
    } catch { case NonFatal(e) if !orElse && isOvertaken(e) => false }

  /**
   * From 4.1 on Delta restores no version that was written before the retention began, even if its files were in the
   * table until a moment ago. Whether they are there has been looked at.
   */
  private def unlimited: ClassicSession = {
    val own = Shims.cloneSession(session)
    own.conf.set(DeltaRollback.TravelLimited, "false")
    own
  }

  private def isOvertaken(e: Throwable): Boolean =
    ExceptionUtils.getThrowables(e).exists {
      case _: PinnedTransaction.Moved | _: DeltaConcurrentModificationException => true
      case _ => false
    }

  /** The version in which a rollback that died has gone back already; refuses if rows of others would be lost. */
  private def restored(
      before: Snapshot,
      commits: Seq[RunRecord],
      run: String,
      now: Snapshot): Option[Long] = {
    val versions = commits.flatMap(_.version)
    val since = changes(versions.head, now.version, run)
    if (!commits.forall(isIn(since, _))) table.refuseNoRun()
    val found = since.collectFirst {
      case (v, actions) if v > versions.last && restores(actions, before.version) => v
    }
    HarmlessVersions.firstOther(since, before.metadata, versions.toSet ++ found).foreach { v =>
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.DELTA_WRITTEN_SINCE",
        "table" -> name,
        "run" -> run,
        "versions" -> versions.mkString(", "),
        "now" -> now.version,
        "operation" -> operation(since, v),
        "version" -> v)
    }
    found
  }

  /** Whether its version is its own: a log that was taken back gives the same numbers to other commits. */
  private def isIn(since: Seq[(Long, Seq[Action])], commit: RunRecord): Boolean = {
    val own = commit.files.map(_.path).toSet
    def isOwn(add: AddFile): Boolean =
      own(table.recorded(DataFile(table.fullPath(add), add.size, add.modificationTime, "")))
    own.isEmpty || since.exists { case (version, actions) =>
      commit.version.contains(version) && actions.exists {
        case add: AddFile => isOwn(add)
        case _ => false
      }
    }
  }

  /** Sets again what RESTORE took back, unless somebody has changed it meanwhile. */
  private def keep(metadata: Metadata, restored: Metadata): Unit = {
    val now = log.update()
    if (SameMetadata(now.metadata, restored) && !SameMetadata(metadata, restored)) {
      val txn = log.startTransaction(table.catalogTable, Some(now))
      txn.updateMetadata(metadata)
      txn.commit(Nil, DeltaOperations.SetTableProperties(metadata.configuration))
    }
    ()
  }

  private def at(version: Long, run: String): Snapshot =
    try log.getSnapshotAt(version)
    catch { case NonFatal(_) => unreadable(version, run) }

  private def changes(from: Long, to: Long, run: String): Seq[(Long, Seq[Action])] = {
    val found = log.getChanges(from).map { case (v, actions) => v -> actions.toSeq }.toList
    (from to to).find(v => !found.exists(_._1 == v)).foreach(unreadable(_, run))
    found.filter(_._1 <= to)
  }

  private def unreadable(version: Long, run: String): Nothing =
    refuse(
      "ZORDER_CANNOT_ROLL_BACK.DELTA_LOG_CLEANED",
      "run" -> run,
      "table" -> name,
      "version" -> version)

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
    val there = DeltaUpkeep.lengths(table.paths, needed)
    needed.map(table.paths.qualified).find(!there.contains(_)).foreach { gone =>
      refuse(
        "ZORDER_CANNOT_ROLL_BACK.DELTA_FILES_VACUUMED",
        "run" -> run,
        "table" -> name,
        "file" -> gone)
    }
  }

  /** A file and its deletion vector. */
  private def parts(add: AddFile): Seq[Path] =
    new Path(table.fullPath(add)) +:
      Option(add.deletionVector).filter(_.storageType != DeletionVectorDescriptor.INLINE_DV_MARKER)
        .map(_.absolutePath(log.dataPath)).toSeq
}

private object DeltaRollback {
  private val TravelLimited =
    "spark.databricks.delta.vacuum.enforceTimeTravelWithinDeletedFileRetentionDuration"

  /** Others may commit harmless versions, such as those of a vacuum, as often as this. */
  private val Attempts = 10
}

/** Versions of a table that changed neither its rows nor how they are stored. */
private object HarmlessVersions {

  /** Delta's properties that control when it works and what it keeps, but not what files contain. */
  private val Keys = Set(
    "delta.checkpointInterval",
    "delta.dataSkippingNumIndexedCols",
    "delta.dataSkippingStatsColumns",
    "delta.deletedFileRetentionDuration",
    "delta.enableExpiredLogCleanup",
    "delta.logRetentionDuration",
    "delta.randomizeFilePrefixes",
    "delta.setTransactionRetentionDuration",
    "delta.targetFileSize",
    "delta.tuneFileSizesForRewrites")

  /**
   * The first of these versions that is not harmless. Harmless are a vacuum, a comment, and changes of properties on
   * the list or of the user's own.
   *
   * @param before
   *   the metadata before the first of them
   * @param passed
   *   versions that are only searched for metadata
   */
  def firstOther(
      changes: Seq[(Long, Seq[Action])],
      before: Metadata,
      passed: Set[Long]): Option[Long] = {
    val metadata = changes.scanLeft(before) { case (last, (_, actions)) =>
      actions.collect { case m: Metadata => m }.lastOption.getOrElse(last)
    }
    changes.zip(metadata).collectFirst {
      case ((version, actions), last) if !passed(version) && !actions.forall(harmless(_, last)) => version
    }
  }

  private def harmless(action: Action, last: Metadata): Boolean = action match {
    case _: CommitInfo => true
    case m: Metadata =>
      m.id == last.id && m.format == last.format && m.partitionColumns == last.partitionColumns &&
      uncommented(m.schema) == uncommented(last.schema) &&
      changed(m.configuration, last.configuration).forall(harmlessKey)
    case _ => false
  }

  private def changed(a: Map[String, String], b: Map[String, String]): Set[String] =
    (a.toSet ++ b.toSet).map(_._1).filter(k => a.get(k) != b.get(k))

  private def harmlessKey(key: String): Boolean =
    !key.startsWith("delta.") || Keys(key) || key.startsWith("delta.autoOptimize.")

  private def uncommented(schema: StructType): DataType = StructType(schema.map { f =>
    val metadata = new MetadataBuilder().withMetadata(f.metadata).remove("comment").build()
    f.copy(dataType = inside(f.dataType), metadata = metadata)
  })

  private def inside(t: DataType): DataType = t match {
    case s: StructType => uncommented(s)
    case ArrayType(e, n) => ArrayType(inside(e), n)
    case MapType(k, v, n) => MapType(inside(k), inside(v), n)
    case other => other
  }
}

package org.apache.spark.sql.zorder.table.resolve

import java.nio.file.AccessDeniedException

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{ClusterTable, RunRecord, StateDir, TableWrite}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.{DirectoryListing, FileMoves}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalStore}
import org.apache.spark.sql.zorder.table.parquet.write.StagedWrite
import org.apache.spark.sql.zorder.table.storage.{ClaimFile, ObjectStores, RunClaim}

/** `INTO 'path'`: a clustered copy of a table in another place. */
object IntoTarget extends Logging {

  /**
   * Checks that a copy may be made there.
   *
   * @return
   *   the full path
   */
  def open(session: ClassicSession, path: String, source: ClusterTable): Path = {
    PathRefusals.known(session, path)
    val asked = new Path(path)
    val fs = asked.getFileSystem(session.sessionState.newHadoopConf())
    val target = fs.makeQualified(asked)
    if (target.getParent == null) refuse("ZORDER_TARGET_REFUSED.FILE_SYSTEM_ROOT", "path" -> target)
    PathRefusals.named(target)
    val (mine, theirs) = (PathText.of(target), PathText.of(source.root))
    if (PathText.isWithin(mine, theirs))
      refuse("ZORDER_TARGET_REFUSED.INSIDE_TABLE", "path" -> target, "table" -> source.name)
    if (PathText.isWithin(theirs, mine))
      refuse("ZORDER_TARGET_REFUSED.HOLDS_TABLE", "path" -> target, "table" -> source.name)
    PathRefusals.outerTable(fs, target).foreach { case (dir, format) =>
      refuse(
        "ZORDER_TARGET_REFUSED.INSIDE_FORMAT_TABLE",
        "path" -> target,
        "format" -> format.name,
        "dir" -> dir)
    }
    // before the listing: a run that ends between the two has filled the directory
    claimOf(fs, target).foreach { claim =>
      RunClaim.holder(Seq(claim)).foreach(atWork(target, _))
    }
    FileMoves.status(fs, target).foreach { s =>
      if (!s.isDirectory) refuse("ZORDER_TARGET_REFUSED.NOT_A_DIRECTORY", "path" -> target)
      if (fs.listStatus(target).nonEmpty) refuse("ZORDER_TARGET_REFUSED.NOT_EMPTY", "path" -> target)
    }
    if (!ObjectStores.isOne(fs.getUri.getScheme)) {
      val parent = Iterator.iterate(target.getParent)(_.getParent).dropWhile(p => p != null && !fs.exists(p))
      if (parent.hasNext) Option(parent.next()).foreach(p => PathRefusals.writable(fs, p, target))
    }
    target
  }

  /** Why no copy may be made there, for a dry run. */
  def refusal(session: ClassicSession, path: String, source: ClusterTable): Option[String] =
    try {
      open(session, path, source)
      None
    } catch {
      case e: ZOrderException => Some(e.sentence)
      case e @ (_: AccessControlException | _: AccessDeniedException) => Some(ZOrderException.firstLine(e))
    }

  /** On a store the files of a copy are in their place from the first on: two copies there would mix their rows. */
  private def claimOf(fs: FileSystem, target: Path): Option[ClaimFile] =
    if (ObjectStores.isOne(fs.getUri.getScheme)) ClaimFile.beside(fs, target) else None

  private def atWork(target: Path, run: String): Nothing =
    refuse("ZORDER_TARGET_REFUSED.RUN_AT_WORK", "path" -> target, "run" -> run)

  /** Begins to write the copy. */
  def begin(session: ClassicSession, target: Path, source: ClusterTable, runId: String): TableWrite = {
    val fs = target.getFileSystem(session.sessionState.newHadoopConf())
    // another copy may have begun since the place was looked at
    val claim = claimOf(fs, target).flatMap { file =>
      try RunClaim.take(file, target.toString, runId, skipIfRunning = true)
      catch { case _: ZOrderConflictException => atWork(target, RunClaim.holder(Seq(file)).getOrElse("")) }
    }
    val staging = newStaging(session, target, runId)
    new StagedWrite(
      target,
      staging,
      source.partitionSchema,
      (_, f) => {
        commit(session, staging, target, f.record, f.layouts)
        claim.foreach(_.close())
      },
      writes =>
        try discard(session, staging, target, writes)
        finally claim.foreach(_.close()))
  }

  /** Where the copy is written: beside the target, or on an object store in the target itself. */
  def newStaging(session: ClassicSession, target: Path, runId: String): Path = {
    val fs = target.getFileSystem(session.sessionState.newHadoopConf())
    if (ObjectStores.isOne(fs.getUri.getScheme)) target
    else {
      val staging = JournalStore.beside(fs, target).staging(Journal.newTxn(runId))
      fs.mkdirs(staging)
      staging
    }
  }

  /** Deletes the staged copy of a run that failed, but nothing where somebody else may have written, too. */
  private def discard(session: ClassicSession, staging: Path, target: Path, writes: Int): Unit = {
    val fs = staging.getFileSystem(session.sessionState.newHadoopConf())
    def jobs = StagedWrite.jobs(DirectoryListing.walk(fs, target)).size
    if (staging != target || (writes > 0 && jobs <= writes)) fs.delete(staging, true)
    else if (writes > 0)
      logWarning(s"Others have written to $target: what the failed run wrote there stays, too.")
  }

  /** Writes the state into the copy and puts it in place. Refuses if somebody has written there meanwhile. */
  def commit(
      session: ClassicSession,
      staging: Path,
      target: Path,
      record: RunRecord,
      layouts: Map[String, String]): Unit = {
    val fs: FileSystem = target.getFileSystem(session.sessionState.newHadoopConf())
    new StateDir(fs, staging).write(record.copy(number = 1), layouts)
    if (staging != target) {
      if (DirectoryListing.walk(fs, target).files.nonEmpty)
        refuse("ZORDER_TARGET_REFUSED.WRITTEN_MEANWHILE", "path" -> target)
      FileMoves.deleteEmptyDirs(fs, target)
      FileMoves.rename(fs, staging, target)
    }
  }
}

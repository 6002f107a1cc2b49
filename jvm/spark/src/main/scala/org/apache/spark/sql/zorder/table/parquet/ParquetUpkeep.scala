package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderConsentException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CatalogProperties, Operation, RunRecord, VacuumResult, VacuumStatus}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.commit.{
  CarriedOverFiles,
  CatalogCompletion,
  HomeCommit,
  PathCompletion,
  PathRecovery
}
import org.apache.spark.sql.zorder.table.parquet.files.{
  DirectoryListing,
  FileMoves,
  HiddenDirectories,
  ListedFile,
  SymbolicLinks
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit
}
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, RunClaim, TextFiles}

/**
 * `ZORDER VACUUM`: deletes files that a journal names as rewritten or copied, and nothing else.
 *
 * Files that somebody has written to a place whose old files are gone stop it, since the user has to say what
 * they are ([[LateChoice]]).
 *
 * @param spared
 *   full paths of files that stay all the same
 */
private[zorder] final class ParquetVacuum(
    table: ParquetTable,
    retentionMs: Long,
    dryRun: Boolean,
    spared: Set[String] = Set.empty) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs
  private val live: Set[String] = table.liveDirs().values.map(PathText.of).toSet

  /** How long what another JVM may be writing is left alone: for a day while a run is at work. */
  private val patience =
    if (RunClaim.holder(table.claims(table.session, table.roots)).isDefined) PathRecovery.StagingMs
    else math.min(retentionMs, PathRecovery.StagingMs)

  /** Asked again each time: a commit that this vacuum has finished itself changed its journal just now. */
  private def now: Long = System.currentTimeMillis

  def run(): Seq[VacuumResult] = {
    val abandoned = unfinished()
    // a copy in its first place that a way home goes on with
    val found = LateFiles.find(table).filterNot(f => f.home && spared(f.path.toString))
    val (sure, unsure) = found.partition(_.sure)
    val late = sure.groupBy(_.dir).map { case (dir, found) => dir -> found.size.toLong }
    val home = counted(sure.filter(_.home), VacuumStatus.CarriedOver) ++
      counted(unsure, VacuumStatus.Overwritten)
    if (!dryRun) LateFiles.carryAll(table, found)
    val inUse = table.files().map(_.path).toSet
    val runs = done()
    val newest = JournalStore.newestOf(runs)
    val purged = for {
      j <- runs
      units = j.units.filter { u =>
        val place = PathText.of(u.old)
        !live(place) && newest(place) == j && fs.exists(u.old)
      }
      if units.nonEmpty && (dryRun || isKept(j) || isStillOld(j, units, runs))
      u <- units
    } yield purge(j, u, late.getOrElse(u.old, 0L), inUse)
    if (!dryRun) {
      forget()
      store.leftovers().filter(s => now - s.getModificationTime >= patience)
        .foreach(s => fs.delete(s.getPath, false))
    }
    abandoned ++ home ++ purged ++ unexplained()
  }

  private def counted(late: Seq[LateDataFile], status: VacuumStatus): Seq[VacuumResult] =
    late.groupBy(_.dir).toSeq.sortBy(_._1.toString).map { case (dir, found) =>
      VacuumResult(dir, 0, 0, found.size.toLong, status)
    }

  /** Including those of a dropped table of the same name: they name their old files too. */
  private def done(): Seq[Journal] = {
    val anyKind = table.identity.nonEmpty
    store.all().filter(j => j.state == JournalState.Done && (anyKind || j.kind == JournalKind.Path))
  }

  /**
   * Whether the directories are still old ones: a rollback that has begun since uses them. It writes its journal first and
   * then looks whether all files are there, while the vacuum looks for journals and then deletes. A journal that cannot
   * be read may be of a rollback, and stops the vacuum.
   *
   * @param runs
   *   the journals that were done when the vacuum began
   */
  private def isStillOld(journal: Journal, units: Seq[SwapUnit], runs: Seq[Journal]): Boolean = {
    val old = units.map(_.old).toSet
    val used = store.except(runs.map(_.txn).toSet).filter(_.state != JournalState.Done)
      .flatMap(_.units.flatMap(u => Seq(u.staged, u.target, u.old))).toSet
    store.get(journal.txn).exists(now => old.subsetOf(now.units.map(_.old).toSet)) && !old.exists(used)
  }

  private def isKept(journal: Journal): Boolean = now - journal.changedMs < retentionMs

  private def purge(journal: Journal, unit: SwapUnit, carried: Long, inUse: Set[String]): VacuumResult = {
    val tree = DirectoryListing.walk(fs, unit.old)
    val old = unit.oldFiles.toSet
    val copied = store.get(journal.txn).toSeq.flatMap(_.carried).toSet
    def mayGo(f: ListedFile): Boolean =
      !inUse(s"${tree.root}/${f.rel}") && !spared(f.under(unit.old).rel) &&
        !SymbolicLinks.onTheWay(unit.old, f.rel) &&
        (old(f) || CarriedOverFiles.stale(f) || marker(f) || empty(f) || copied(f.under(unit.old)))
    val (go, stay) = tree.files.partition(mayGo)
    val linked = SymbolicLinks.target(unit.old).isDefined
    def stays(status: VacuumStatus) = VacuumResult(unit.old, 0, 0, carried, status)
    if (isKept(journal))
      stays(VacuumStatus.Kept(go.size, go.map(_.length).sum, journal.changedMs, retentionMs))
    else if (linked) stays(VacuumStatus.Link)
    else if (tree.writer.isDefined) stays(VacuumStatus.WriterInFlight(tree.writer.get))
    else {
      if (!dryRun) {
        go.foreach { f =>
          fs.delete(new Path(unit.old, f.rel), false)
          CrashPoint.hit("vacuum-deleted")
        }
        if (stay.isEmpty && !table.keepsDirectory(unit)) FileMoves.deleteEmptyDirs(fs, unit.old)
      }
      val left = if (dryRun) stay.size > carried else stay.nonEmpty
      val status: VacuumStatus =
        if (left) VacuumStatus.FilesLeft(stay.size)
        else if (tree.files.isEmpty && watched(unit)) VacuumStatus.Watched
        else VacuumStatus.Deleted
      VacuumResult(unit.old, go.size.toLong, go.map(_.length).sum, carried, status)
    }
  }

  /** The marker that a late job has left beside its files, which are carried over. */
  private def marker(f: ListedFile): Boolean = f.length == 0 && f.name == "_SUCCESS"

  /** Some engines leave files without a byte. In a young one somebody may be about to write. */
  private def empty(f: ListedFile): Boolean =
    f.length == 0 && f.isNamedAsData && now - f.modified >= PathRecovery.StagingMs

  /** Finishes or withdraws dead commits that are old enough. */
  private def unfinished(): Seq[VacuumResult] = {
    // those of another table are left to it, but for directories that are exchanged: a dropped table's are closed
    val before = store.all().filter(j => j.state != JournalState.Done && !j.active)
      .filter(j => table.owns(j) || table.kind == JournalKind.Path && j.kind == JournalKind.Path)
      .filter(j => j.owner == Journal.thisJvm || PathRecovery.isAged(j, patience))
    if (!dryRun) table.recoverCommits(patience)
    before.filter(j => dryRun || store.get(j.txn).forall(_.state == JournalState.Done)).map(j =>
      VacuumResult(j.staging, 0, 0, 0, VacuumStatus.Abandoned))
  }

  /** Deletes journals whose old directories are gone. */
  private def forget(): Unit = {
    // a rollback that ended meanwhile has left the place that was the table's
    val used = table match {
      case moved: CatalogParquetTable => CatalogCompletion.inUse(moved.entry)
      case _ => live
    }
    done().foreach { j =>
      val left = j.units.filter(u => fs.exists(u.old) && !used(PathText.of(u.old)))
        .map(u => if (watched(u)) u.copy(inputs = Nil, kept = Nil, outputs = Nil) else u)
      if (left.isEmpty && !j.ignored.exists(f => fs.exists(new Path(f.rel)))) {
        FileMoves.deleteEmptyDirs(fs, store.retired(j.txn))
        if (j.kind == JournalKind.Catalog) emptyParents(j)
        store.delete(j)
      } else if (left != j.units) store.write(j.copy(units = left))
    }
  }

  /** Empty, but somebody may still write there by path, so a journal without files keeps naming it. */
  private def watched(unit: SwapUnit): Boolean =
    table.keepsDirectory(unit) && DirectoryListing.walk(fs, unit.old).files.isEmpty

  /** The directories of an earlier run's partitions: `z<txn>.t`, or `.z<txn>` inside a managed table. */
  private def emptyParents(journal: Journal): Unit = journal.units.foreach { u =>
    store.topOf(table.root, u.old)
      .filterNot(top => live.exists(PathText.isWithin(_, PathText.of(top))))
      .foreach(FileMoves.deleteEmptyDirs(fs, _))
  }

  private def unexplained(): Seq[VacuumResult] = {
    val known = store.all().flatMap(j =>
      Seq(store.retired(j.txn), store.staging(j.txn)).map(_.getName) ++
        j.units.indices.map(i => PathCompletion.stray(store, j, i).getName)).toSet
    unexplainedInside() ++ TextFiles.children(fs, store.parent)
      .filter(s => s.isDirectory && store.isOurs(s.getPath.getName) && !known(s.getPath.getName))
      .map(s => VacuumResult(s.getPath, 0, 0, 0, VacuumStatus.NoJournal))
  }

  private def unexplainedInside(): Seq[VacuumResult] = {
    val used =
      live ++ store.all().flatMap(j => j.staging +: j.units.flatMap(u => Seq(u.old, u.target))).map(
        PathText.of)
    val (empty, full) = HiddenDirectories.all(fs, table.root)
      .filterNot(dir => used.exists(PathText.isWithin(_, PathText.of(dir))))
      .partition(dir => DirectoryListing.walk(fs, dir).files.isEmpty)
    if (!dryRun) empty.foreach(FileMoves.deleteEmptyDirs(fs, _))
    full.map(VacuumResult(_, 0, 0, 0, VacuumStatus.NoJournal))
  }
}

/** `ZORDER ROLLBACK`: returns to the files before the last run. Rows that were added since are kept. */
private[zorder] object ParquetRollback {

  /** @return the id of the run that was undone */
  def run(table: ParquetTable, statement: String): String = {
    LateFiles.carry(table)
    // one without units is kept for what it says of late files
    val runs = table.doneJournals().filter(j =>
      j.operation == Operation.Optimize && j.kind == table.kind && j.units.nonEmpty)
    val last = runs.lastOption.getOrElse(
      refuse("ZORDER_CANNOT_ROLL_BACK.NO_RUN_LEFT", "table" -> table.name, "why" -> whyNone(table)))
    // each batch of a run has its own partitions
    val commits = runs.filter(_.runId == last.runId)
    commits.flatMap(_.units).foreach(u => checkOld(table, u))
    commits.foreach(checkPlace(table, _))
    val recorded = table.state.standing().filter(_.runId == last.runId)
    checkWhole(table, commits, recorded)
    val txn = Journal.newTxn("")
    val record = RunRecord.rolledBack(last.runId, recorded.lastOption, statement)
    val draft = table.draft(txn, Operation.Rollback, record.runId)
    table.commitRollback(draft.copy(units = back(table, txn, commits)), record)
    last.runId
  }

  private def whyNone(table: ParquetTable): String =
    if (!table.state.outlines().exists(_.operation == Operation.Optimize)) "none was made"
    else if (table.state.latest().isEmpty) "all were rolled back already"
    else "it has no old files any more; they were vacuumed, or this is a copy of the table"

  /** The exchanges that take these commits back. */
  private def back(table: ParquetTable, txn: String, commits: Seq[Journal]): Seq[SwapUnit] =
    for (commit <- commits; unit <- commit.units)
      yield table.reversed(txn, unit)
        .copy(inputs = unit.outputs, kept = copied(commit, unit), outputs = unit.inputs)

  /** Files that were copied from the old to the new directory, as they were then. */
  private def copied(journal: Journal, unit: SwapUnit): Seq[ListedFile] = {
    val base = s"${unit.old}/"
    unit.kept ++ journal.carried.filter(_.rel.startsWith(base))
      .map(f => f.copy(rel = f.rel.stripPrefix(base)))
  }

  private def checkOld(table: ParquetTable, unit: SwapUnit): Unit = {
    val there = DirectoryListing.walk(table.store.fs, unit.old).files.toSet
    val data = unit.oldFiles.filter(_.isData)
    if (unit.inputs.isEmpty || !data.forall(there))
      refuse("ZORDER_CANNOT_ROLL_BACK.OLD_FILES_GONE", "table" -> table.name, "dir" -> unit.old)
  }

  /** A vacuum may have deleted the old files of the run's first batches. */
  private def checkWhole(table: ParquetTable, commits: Seq[Journal], recorded: Seq[RunRecord]): Unit =
    if (recorded.length > commits.length)
      refuse("ZORDER_CANNOT_ROLL_BACK.SOME_OLD_FILES_GONE", "table" -> table.name)

  /** The data must be where the run put it, and its files must be as the run wrote them. */
  private def checkPlace(table: ParquetTable, last: Journal): Unit = {
    val live = table.liveDirs()
    last.units.foreach { u =>
      val now = live.get(u.partition)
      val there = now.map(dir => DirectoryListing.walk(table.store.fs, dir).files.toSet).getOrElse(Set.empty)
      if (!now.map(PathText.of).contains(PathText.of(u.target)) || !u.outputs.forall(there))
        refuse("ZORDER_CANNOT_ROLL_BACK.CHANGED_SINCE", "table" -> table.name, "run" -> last.runId)
    }
  }
}

/** What the user says of the files of a table that has moved, when the table is left. */
sealed abstract private[zorder] class HomeChoice(val words: String)

private[zorder] object HomeChoice {

  /** The files go back to where they were before the first run. */
  case object MoveHome extends HomeChoice("MOVE HOME")

  /** The files stay where they are. */
  case object Stay extends HomeChoice("STAY")
}

/**
 * `ZORDER REMOVE`: removes every trace of this project from a table. Files that have moved go home, on an
 * object store only if the user says so, since that is a copy of the table.
 */
private[zorder] object ParquetRemove {

  def run(
      session: ClassicSession,
      table: ParquetTable,
      choice: Option[HomeChoice],
      statement: String): Unit = {
    val (copies, others) = LateFiles.find(table).partition(_.arrived)
    checkLate(table, others)
    checkFinished(table)
    checkForeign(table, copies)
    val home = wayHome(table, choice)
    // what an attempt that died has copied home already
    val spared = if (home.isDefined) copies else Nil
    checkGone(table, vacuum(table, dryRun = false, spared), spared)
    home.foreach { bring =>
      bring(statement)
      // where they were copied, what they were copied from
      checkGone(table, vacuum(table, dryRun = false, spared = Nil), Nil)
    }
    // a run that has begun since needs its journal
    checkFinished(table)
    table.doneJournals().foreach(table.store.delete)
    table.store.fs.delete(table.state.dir, true)
    CrashPoint.hit("removed-state")
    table.catalogName.foreach(CatalogProperties.dropOurs(session.sessionState.catalog, _))
  }

  private def checkLate(table: ParquetTable, late: Seq[LateDataFile]): Unit = {
    LateFiles.ask(table, late)
    late.headOption.foreach { first =>
      refuse(
        "ZORDER_CANNOT_REMOVE.LATE_FILES",
        "count" -> late.size,
        "table" -> table.name,
        "dir" -> first.dir)
    }
  }

  private def checkFinished(table: ParquetTable): Unit =
    table.store.all().find(j => j.state != JournalState.Done && table.owns(j)).foreach { j =>
      refuse("ZORDER_CANNOT_REMOVE.UNFINISHED_RUN", "run" -> j.runId, "table" -> table.name)
    }

  /** Refuses files that a vacuum would leave. */
  private def checkForeign(table: ParquetTable, copies: Seq[LateDataFile]): Unit =
    vacuum(table, dryRun = true, spared = copies.filter(_.home))
      .find(r => r.status != VacuumStatus.Deleted && r.status != VacuumStatus.Watched).foreach { r =>
        refuse(
          "ZORDER_CANNOT_REMOVE.FOREIGN_FILES",
          "dir" -> r.path,
          "table" -> table.name,
          "status" -> r.status.name)
      }

  /** Refuses places where a job has begun since: what it writes there needs a journal, and old files may be there still. */
  private def checkGone(table: ParquetTable, results: Seq[VacuumResult], spared: Seq[LateDataFile]): Unit =
    results.map(r => r -> r.status).collectFirst {
      case (r, _: VacuumStatus.WriterInFlight) => r
      case (r, _: VacuumStatus.FilesLeft) if spared.isEmpty => r
    }.foreach(r => refuse("ZORDER_CANNOT_REMOVE.JOB_AT_WORK", "dir" -> r.path, "table" -> table.name))

  /** A vacuum of old files, however young they are. */
  private def vacuum(table: ParquetTable, dryRun: Boolean, spared: Seq[LateDataFile]): Seq[VacuumResult] =
    new ParquetVacuum(table, 0L, dryRun, spared.map(_.path.toString).toSet).run()

  /** What brings the files home, after everything has been checked; None if they are there, or stay. */
  private def wayHome(table: ParquetTable, choice: Option[HomeChoice]): Option[String => Unit] = table match {
    case moved: CatalogParquetTable if !choice.contains(HomeChoice.Stay) =>
      val commit = new HomeCommit(moved.entry, SessionKeys.commitWaitMs(moved.session.sessionState.conf))
      val away = commit.away()
      val deleted = moved.doneJournals().flatMap(j =>
        j.carried.map(_.rel) ++ j.units.flatMap(u => u.oldFiles.map(_.under(u.old).rel))).toSet
      def isOld(file: Path) = deleted(file.toString)
      commit.check(away, isOld)
      if (choice.isEmpty) commit.cost(away).foreach { cost =>
        throw new ZOrderConsentException(
          "ZORDER_CHOICE_NEEDED.MOVE_HOME",
          "table" -> moved.name,
          "path" -> away.head.target,
          "bytes" -> cost.bytes,
          "count" -> cost.files,
          "requests" -> cost.requests,
          "dir" -> away.head.staged,
          "sql" -> moved.sql)
      }
      Some(away).filter(_.nonEmpty).map(units => commit.bring(units, isOld, _))
    case _ => None
  }
}

package org.apache.spark.sql.zorder.table.parquet.commit

import java.io.IOException

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.table.{Operation, StateDir}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.{
  CopyName,
  DirectoryListing,
  FileMoves,
  HiddenDirectories,
  ListedFile,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit,
  TableIdentity
}
import org.apache.spark.sql.zorder.table.storage.{AtomicRenames, Cancellation, CrashPoint, DriverReads}

/** Finishes or undoes exchanges of directories that died, by their journals alone (`JournalKind.Path`). */
private[zorder] object PathRecovery {

  /** How long the staging directory of another JVM is left alone. */
  val StagingMs: Long = 24L * 3600 * 1000

  /**
   * Finishes or undoes every commit that nobody is working on.
   *
   * @param journals
   *   all of the store
   */
  def recover(
      store: JournalStore,
      journals: Seq[Journal],
      mark: ExchangeMark,
      stagingMs: Long = StagingMs,
      identity: String = ""): Unit = {
    val (ours, dropped) =
      journals.filter(_.kind == JournalKind.Path).partition(j => !TableIdentity.isOfEarlier(j, identity))
    dropped.filter(j => isUnfinished(j) && !isAtWork(store, j, stagingMs))
      .foreach(new PathCompletion(store, mark).closeDropped)
    ours.foreach(recoverOne(store, mark, _, stagingMs))
    // of a commit that died right before it took its mark away
    mark.marked.filter(isOver(store, _)).foreach(mark.end(_, Nil))
  }

  /** A run by the path may be at work on the table, and its journal older than that by two clocks. */
  private def isAtWork(store: JournalStore, journal: Journal, stagingMs: Long): Boolean =
    journal.active || journal.table.isEmpty && {
      if (journal.isExchanging) Heartbeat.isAlive(store, journal)
      else journal.owner != Journal.thisJvm && !isAged(journal, stagingMs)
    }

  /** Whether a commit is done, or gone. One of a table that has moved has its journal under the table's first name. */
  private def isOver(store: JournalStore, txn: String): Boolean = store.get(txn) match {
    case Some(journal) => journal.state == JournalState.Done
    case None => JournalStore.baseOf(store.fs, store.parent, txn).isEmpty
  }

  /** The commit `txn` of this JVM, if it is not done. */
  def settle(store: JournalStore, mark: ExchangeMark, txn: String, waitMs: Long): Unit =
    store.get(txn).foreach(j => act(store, mark, j, waitMs))

  private def recoverOne(store: JournalStore, mark: ExchangeMark, journal: Journal, stagingMs: Long): Unit =
    if (!journal.active) journal.state match {
      case JournalState.Done =>
      case JournalState.Swapping | JournalState.Undoing => awaitExchange(store, mark, journal.txn)
      case _ =>
        if (journal.owner == Journal.thisJvm || isAged(journal, stagingMs))
          store.get(journal.txn).foreach { now =>
            if (now.state == journal.state) act(store, mark, now, Heartbeat.LeaseMs)
            // it has begun to exchange since: decide again, now by its signs of life
            else recoverOne(store, mark, now, stagingMs)
          }
    }

  /** Waits until another session's exchange is over, and finishes or undoes it if that session dies. */
  def awaitExchange(store: JournalStore, mark: ExchangeMark, txn: String): Unit =
    while (store.get(txn).exists(_.isExchanging)) {
      takeOver(store, mark, txn)
      if (store.get(txn).exists(_.isExchanging)) Thread.sleep(100L)
    }

  /** Whether a commit of another JVM has rested for so long that it counts as dead; nobody's for a day at least. */
  def isAged(journal: Journal, stagingMs: Long): Boolean = {
    val patience = if (journal.owner == Journal.Nobody) math.max(stagingMs, StagingMs) else stagingMs
    System.currentTimeMillis - journal.changedMs >= patience
  }

  def isUnfinished(journal: Journal): Boolean =
    journal.kind == JournalKind.Path && journal.state != JournalState.Done

  /** Finishes or undoes an exchange whose owner is dead, unless another session has begun to do so. */
  def takeOver(store: JournalStore, mark: ExchangeMark, txn: String): Unit =
    store.get(txn).filter(j => j.isExchanging && !Heartbeat.isAlive(store, j)).foreach { dead =>
      Heartbeat.inherit(store, dead)(act(store, mark, _, Heartbeat.LeaseMs))
    }

  private def act(store: JournalStore, mark: ExchangeMark, journal: Journal, waitMs: Long): Unit =
    journal.state match {
      case JournalState.Swapping =>
        Heartbeat.during(store, journal.txn)(forward(store, mark, journal, waitMs))
      case JournalState.Undoing =>
        Heartbeat.during(store, journal.txn)(new PathCompletion(store, mark).undo(journal, waitMs))
      case JournalState.Staging | JournalState.Prepared => new PathCompletion(store, mark).abandon(journal)
      case _ =>
    }

  /** Finishes all units but those whose data somebody has changed since: these stay as they are. */
  private def forward(store: JournalStore, mark: ExchangeMark, journal: Journal, waitMs: Long): Unit = {
    val swap = new DirectoryRenames(store.fs, waitMs)
    val done = journal.units.zipWithIndex.flatMap { case (unit, i) =>
      swap.forward(unit, PathCompletion.stray(store, journal, i)) match {
        case DirectoryRenames.Swapped(ready) =>
          NestedFiles.lift(store.fs, ready)
          Some(ready)
        case DirectoryRenames.Refused(_) => None
      }
    }
    if (done.isEmpty) new PathCompletion(store, mark).abandon(journal)
    else {
      new PathCompletion(store, mark).finish(journal.copy(units = done))
      ()
    }
  }
}

/** The last steps of an exchange of directories, or of its withdrawal. Each step can be repeated after a crash. */
private[parquet] final class PathCompletion(store: JournalStore, mark: ExchangeMark) {

  private val fs: FileSystem = store.fs

  /** All units are in place: writes the history, deletes the staging directory and marks the journal as done. */
  def finish(journal: Journal): Journal = {
    val state = new StateDir(fs, journal.home)
    val numbers = CommitHistory.written(state, Seq.empty[Int]) {
      val copied = StateDir.copyRuns(new StateDir(fs, journal.staging), state)
      state.writeBase(store.base)
      copied
    }
    CrashPoint.hit("state-moved")
    cleanUp(journal)
    // a rollback has taken the old directories of the run that it undid; a journal that cannot be read now, and still
    // names them, does no harm
    val taken = journal.units.map(_.staged).toSet
    store.known().filter(j => j.txn != journal.txn && j.units.exists(u => taken(u.old))).foreach { j =>
      FileMoves.deleteEmptyDirs(fs, store.retired(j.txn))
      val left = j.units.filterNot(u => taken(u.old))
      if (left.isEmpty) store.delete(j) else store.write(j.copy(units = left))
    }
    val done = store.write(journal.at(JournalState.Done))
    CrashPoint.hit("done")
    mark.end(journal.txn, journal.units)
    CrashPoint.hit("unmarked")
    // no query waits any more
    numbers.foreach(state.gatherAfter)
    done
  }

  /** Moves old directories back, in reverse order, but for those whose new data somebody has overwritten since. */
  def undo(journal: Journal, waitMs: Long): Unit = {
    val swap = new DirectoryRenames(fs, waitMs)
    val (overwritten, others) = journal.units.zipWithIndex.partition { case (u, _) => swap.isOverwritten(u) }
    others.reverse.foreach { case (u, i) => swap.backward(u, PathCompletion.stray(store, journal, i)) }
    if (overwritten.isEmpty) abandon(journal)
    else {
      deleteCopies(journal, others.map(_._1))
      cleanUp(journal)
      // their old files wait for the vacuum; the run itself has not taken place
      store.write(
        journal.copy(operation = Operation.Replace, runId = "", units = overwritten.map(_._1))
          .at(JournalState.Done))
      mark.end(journal.txn, Nil)
    }
  }

  private def deleteCopies(journal: Journal, units: Seq[SwapUnit]): Unit =
    if (journal.operation == Operation.Rollback)
      units.foreach(u => RollbackCleanup.deleteCopies(store, journal, u.staged, u.target))

  /** Deletes what a commit had prepared that did not change the table. */
  def abandon(journal: Journal): Unit = {
    deleteCopies(journal, journal.units)
    cleanUp(journal)
    FileMoves.deleteEmptyDirs(fs, store.retired(journal.txn))
    CrashPoint.hit("abandoned")
    mark.end(journal.txn, Nil)
    store.delete(journal)
  }

  /** For a commit of a table that was dropped meanwhile: its old files wait for the vacuum, the rest is deleted. */
  def closeDropped(journal: Journal): Unit = {
    cleanUp(journal)
    val left = journal.units.filter(u => fs.exists(u.old))
    if (left.isEmpty) {
      FileMoves.deleteEmptyDirs(fs, store.retired(journal.txn))
      store.delete(journal)
    } else {
      // with its own time, by which it is known as an earlier table's
      store.write(journal.copy(units = left).at(JournalState.Done).copy(changedMs = journal.changedMs))
      ()
    }
  }

  private def cleanUp(journal: Journal): Unit = {
    journal.units.indices.map(PathCompletion.stray(store, journal, _)).foreach(fs.delete(_, true))
    // the staging directory is only ours; a staged directory that became the table has left it
    if (store.isOurs(journal.staging.getName)) fs.delete(journal.staging, true)
    ()
  }
}

private[parquet] object PathCompletion {
  def stray(store: JournalStore, journal: Journal, unit: Int): Path =
    store.stray(s"${journal.txn}-$unit")
}

/** Finishes or withdraws a commit to the catalog that failed or died. The catalog says whether it took place. */
private[zorder] object CatalogRecovery {

  /**
   * Every commit of the table that nobody is working on. Those of another table that has begun at the same place are
   * left to it: what they have made may be in use there.
   *
   * @param journals
   *   all of the table's store
   */
  def recover(
      table: CatalogEntry,
      journals: Seq[Journal],
      stagingMs: Long = PathRecovery.StagingMs): Unit =
    journals.filter(j => unfinished(j) && TableIdentity.same(j.table, table.identity)).foreach { j =>
      val live = table.liveDirs().values.map(PathText.of).toSet
      def aged = PathRecovery.isAged(j, stagingMs)
      val happened = j.units.exists(u => live(PathText.of(u.target)))
      // a rollback copies what was added since, a way home everything
      val isCopying = !j.operation.makesFiles && !isWayHome(j)
      if (j.owner == Journal.thisJvm || (if (happened || j.isExchanging || isCopying)
                                           !Heartbeat.isAlive(table.store, j)
                                         else aged))
        settleOrAwait(table, j.txn)
    }

  /** Only one session brings files home; the others wait until it has, or go on when it dies. */
  private def settleOrAwait(table: CatalogEntry, txn: String): Unit = {
    def atWork = table.store.get(txn).exists(j => isWayHome(j) && j.isExchanging)
    settle(table, txn)
    while (atWork) {
      Thread.sleep(100L)
      settle(table, txn)
    }
  }

  private def unfinished(j: Journal): Boolean =
    j.kind == JournalKind.Catalog && j.state != JournalState.Done && !j.active

  /** Renames bring the files home; copies are a commit like others, with inputs. */
  private def isWayHome(j: Journal): Boolean =
    j.operation == Operation.MoveHome && j.units.forall(_.inputs.isEmpty)

  /**
   * The commit `txn`, if it is not done. One that the catalog may still carry out waits for a day. A way home is left
   * alone where another session is at work on it.
   */
  def settle(table: CatalogEntry, txn: String): Unit =
    table.store.get(txn).filter(_.state != JournalState.Done).foreach {
      case j if isWayHome(j) =>
        val home = new HomeCommit(table, Heartbeat.LeaseMs)
        if (!j.isExchanging) home.settle(j)
        else if (!Heartbeat.isAlive(table.store, j)) Heartbeat.inherit(table.store, j)(home.settle)
      case j =>
        val completion = new CatalogCompletion(table)
        val live = CatalogCompletion.inUse(table)
        // before that, the catalog cannot have been altered by this commit
        val isReady = j.state == JournalState.Prepared || j.state == JournalState.Undoing
        if (isReady && j.units.exists(u => live(PathText.of(u.target)))) {
          completion.finish(completion.withLastCopies(j))
          ()
        } else if (j.state == JournalState.Undoing) completion.leave(j)
        else if (j.owner != Journal.Nobody || PathRecovery.isAged(j, 0)) completion.abandon(j)
    }
}

/** The last steps of a commit to the catalog, or of its withdrawal. Each step can be repeated after a crash. */
private[parquet] final class CatalogCompletion(table: CatalogEntry) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs

  /** The journal with the files that came last and were copied, though their copies were not noted any more. */
  def withLastCopies(journal: Journal): Journal =
    journal.copy(units = journal.units.map { u =>
      val copied = CarriedOverFiles.arrived(fs, u, DirectoryListing.walk(fs, u.old)).filter(f =>
        UnfinishedFiles.isCopy(fs, new Path(u.target, f.rel), f))
      u.copy(kept = u.kept ++ copied)
    })

  /** The catalog has the new locations: writes the history and marks the journal as done. */
  def finish(altered: Journal): Journal = {
    // before old files go
    if (table.partitioned) table.changeProperties(_ + (CatalogCommit.TxnProperty -> altered.txn))
    val journal =
      if (table.isManaged) RetiredPartitions.moveAside(table, altered, CatalogCompletion.inUse(table))
      else altered
    val numbers = if (!table.partitioned) Nil
    else {
      val copied = CommitHistory.written(table.state, Seq.empty[Int]) {
        StateDir.copyRuns(new StateDir(fs, journal.staging), table.state)
      }
      fs.delete(new Path(journal.staging, StateDir.Name), true)
      fs.delete(new Path(journal.staging, "_SUCCESS"), false)
      val full = journal.units.filter(u => u.outputs.nonEmpty || u.kept.nonEmpty).map(_.target).toSet
      FileMoves.deleteEmptyDirs(fs, journal.staging, full)
      copied
    }
    if (table.isManaged) CommitHistory.written(table.state, ())(table.state.writeBase(store.base))
    CrashPoint.hit("state-moved")
    // what a run or a replacement has written lies in directories that no earlier journal can name
    if (altered.operation.makesFiles) recordHomes(altered) else forgetTaken(journal)
    val done = store.write(journal.at(JournalState.Done))
    CrashPoint.hit("done")
    numbers.foreach(table.state.gatherAfter)
    done
  }

  /**
   * A flat table's state lies in the directory that has just become the table. What a managed table's directory says by
   * itself is not recorded: that changes with the table's name.
   */
  private def recordHomes(altered: Journal): Unit = {
    val root = altered.units.find(_ => !table.partitioned).fold(table.root)(_.target)
    def isPlain(u: SwapUnit) =
      table.isManaged && PathText.of(u.old) == PathText.of(SwapPlan.below(table.root, u.partition))
    val homes = altered.units.filterNot(u => table.topOf(u.old).isDefined || isPlain(u)).map(u =>
      u.partition -> u.old.toUri.toString).toMap
    new StateDir(fs, root).addHomes(homes)
  }

  /**
   * A rollback has taken the old directories of the run that it undid. A journal that still names them, since it cannot
   * be read now, does no harm.
   */
  private def forgetTaken(journal: Journal): Unit = {
    val taken = journal.units.map(_.target).toSet
    store.known().filter(j => j.txn != journal.txn && TableIdentity.same(j.table, journal.table)).foreach {
      j =>
        val left = j.units.filterNot(u => taken(u.old))
        if (left.size < j.units.size) {
          if (left.isEmpty) store.delete(j) else store.write(j.copy(units = left))
        }
    }
  }

  /**
   * The catalog has the old locations again. A job may have begun in the new ones while it named them. They become places
   * that the table has left: what comes there is a late file, and the vacuum deletes the rest.
   */
  def leave(journal: Journal): Unit = {
    val units = journal.units.map { u =>
      val made = (u.outputs ++ u.kept).map(_.identity).toSet
      val there = DirectoryListing.walk(fs, u.target).files.filter(f => made(f.identity))
      u.copy(target = u.old, staged = u.old, old = u.target, inputs = there, kept = Nil, outputs = u.inputs)
    }
    // under a name of its own, since a commit that is done counts as one that took place; the same each time
    val txn = s"${journal.txn}left"
    store.write(
      journal.copy(txn = txn, operation = Operation.Replace, runId = "", units = units).at(JournalState.Done))
    CrashPoint.hit("left")
    (journal.staging +: units.map(_.old)).foreach { dir =>
      fs.delete(new Path(dir, StateDir.Name), true)
      fs.delete(new Path(dir, "_SUCCESS"), false)
    }
    store.delete(journal)
  }

  /** Deletes what was prepared, but never a directory that the table uses. */
  def abandon(journal: Journal): Unit = {
    val live = CatalogCompletion.inUse(table)
    def free(dir: Path): Boolean = !live.exists(PathText.isWithin(_, PathText.of(dir)))
    val away = journal.units.filterNot(u => live(PathText.of(u.target)))
    val prepared = journal.operation match {
      case Operation.Rollback =>
        away.foreach(u => RollbackCleanup.deleteCopies(store, journal, u.target, u.old))
        Nil // the old directories of an earlier run, not ours to delete
      case Operation.MoveHome =>
        // what was copied is taken by the next attempt, if the table has that file still
        away.foreach { u =>
          val there =
            if (live(PathText.of(u.old))) DirectoryListing.walk(fs, u.old).files.toSet
            else Set.empty[ListedFile]
          u.inputs.filterNot(there).foreach(f =>
            fs.delete(new Path(u.target, CopyName.of(u.old, f)), false))
        }
        Nil
      case _ => journal.units.flatMap(u => Seq(u.target, u.staged))
    }
    (prepared :+ journal.staging).distinct.filter(free).foreach(dir => fs.delete(dir, true))
    CrashPoint.hit("abandoned")
    store.delete(journal)
  }
}

private[parquet] object CatalogCompletion {

  /** The paths of the table and of its partitions, as the catalog has them now. */
  def inUse(table: CatalogEntry): Set[String] = {
    table.reload()
    table.liveDirs().values.map(PathText.of).toSet + PathText.of(table.root)
  }
}

/**
 * Empties the places where Spark makes the partitions of a managed table. Old files there would become rows again if
 * somebody dropped a partition, which deletes its new place, and then inserted into it. Each step can be repeated.
 */
private object RetiredPartitions {

  /**
   * @param live
   *   current paths of the partitions; a place that is in use again stays
   * @return
   *   the journal with the new places of the old files
   */
  def moveAside(table: CatalogEntry, journal: Journal, live: Set[String]): Journal = {
    val fs = table.fs
    // whether a directory is renamed in one step there
    val atOnce = AtomicRenames.on(table.session, fs)
    val to = HiddenDirectories.retired(table.root, journal.txn)
    val places = journal.units
      .filter(u => HiddenDirectories.isVisible(table.root, u.old) && !live(u.old.toUri.getPath))
      .map(u => u.partition -> SwapPlan.below(to, u.partition)).toMap
    val moves = for (u <- journal.units; place <- places.get(u.partition)) yield u.old -> place
    val (whole, singly) = moves.partition { case (_, place) => atOnce && !fs.exists(place) }
    whole.foreach { case (from, place) =>
      if (fs.exists(from)) FileMoves.rename(fs, from, place)
      CrashPoint.hit("retired")
    }
    if (singly.nonEmpty) copyAside(table, journal.txn, singly)
    journal.copy(units = DriverReads.each(journal.units, DriverReads.MostRequests) { u =>
      places.get(u.partition).fold(u) { place =>
        (if (atOnce) u else moved(u, DirectoryListing.walk(fs, place))).copy(old = place)
      }
    })
  }

  /** File by file, if a rename would be a copy, or to go on after a crash. All copies are whole before a file goes. */
  private def copyAside(table: CatalogEntry, txn: String, moves: Seq[(Path, Path)]): Unit = {
    val fs = table.fs
    val copies = DriverReads.each(moves, DriverReads.MostRequests) { case (from, to) =>
      DirectoryListing.walk(fs, from).files.filterNot(UnfinishedFiles.is(fs, from, _))
        .map(f => (new Path(from, f.rel), new Path(to, f.rel), f))
    }.flatten
    CopyTasks.run(table, txn, "move old files aside", copies)
    CrashPoint.hit("retired-copied")
    val whole = DriverReads.each(moves, DriverReads.MostRequests) { case (_, to) =>
      DirectoryListing.walk(fs, to).files.map(f => (new Path(to, f.rel), f.length))
    }.flatten.toSet
    copies.find { case (_, to, f) => !whole((to, f.length)) }.foreach { case (source, to, _) =>
      throw new IOException(s"$to is no whole copy of $source")
    }
    DriverReads.each(copies, DriverReads.MostRequests) { case (source, _, _) => fs.delete(source, false) }
    moves.foreach { case (from, _) => FileMoves.deleteEmptyDirs(fs, from) }
    CrashPoint.hit("retired")
  }

  /** A copy has a new modification time if the file system cannot set it. */
  private def moved(unit: SwapUnit, tree: DirectoryListing): SwapUnit = {
    val there = tree.files.map(f => f.identity -> f).toMap
    def now(files: Seq[ListedFile]) = files.map(f => there.getOrElse(f.identity, f))
    unit.copy(inputs = now(unit.inputs), kept = now(unit.kept))
  }
}

/** A rollback stages the old directory of an earlier run in place. If it fails, the files it copied there go. */
private object RollbackCleanup {

  /**
   * @param dir
   *   the old directory
   * @param live
   *   where the table's data still is; only files that are there too are deleted
   */
  def deleteCopies(store: JournalStore, rollback: Journal, dir: Path, live: Path): Unit =
    for {
      j <- store.all() if j.txn != rollback.txn
      unit <- j.units if unit.old == dir
    } {
      val theirs = unit.oldFiles.map(_.rel).toSet
      // another file may have come under its name
      val carried = j.carried.toSet
      def isTheirs(f: ListedFile) = theirs(f.rel) || carried(f.under(dir))
      val (kept, others) = DirectoryListing.walk(store.fs, dir).files.partition(isTheirs)
      // a copy of what is there already has come over it, and has another time if the file system cannot set it
      val now = kept.map(f => f.identity -> f).toMap
      val timed = unit.copy(kept = unit.kept.map(f => now.getOrElse(f.identity, f)))
      if (timed != unit) store.write(j.copy(units = j.units.map(u => if (u == unit) timed else u)))
      others.foreach { f =>
        val same = FileMoves.status(store.fs, new Path(live, f.rel)).exists(_.getLen == f.length)
        if (same || f.rel.startsWith(s"${StateDir.Name}/")) store.fs.delete(new Path(dir, f.rel), false)
      }
    }
}

/**
 * What a commit writes down of itself when its rows are in place. Without it, later runs know less; a commit that stayed
 * unfinished for it would keep queries by name waiting, and every further run and vacuum from the table.
 */
private object CommitHistory extends Logging {

  /** Tried once more; then it is a warning, and `otherwise` counts. */
  def written[A](state: StateDir, otherwise: A)(write: => A): A =
    try Cancellation.repeated(write)
    catch {
      case crash: CrashPoint.Crash => throw crash
      case NonFatal(e) =>
        logWarning(s"The history of a commit could not be written under ${state.dir}", e)
        otherwise
    }
}

/** The outcome of a commit that an error stopped and that was then finished or withdrawn as far as possible. */
private[parquet] object FailedCommit {

  /**
   * @return
   *   the journal if the commit was finished after all; then the run has succeeded
   */
  def outcome(store: JournalStore, draft: Journal, e: Throwable): Journal = {
    val left = store.get(draft.txn)
    left.filter(j => tookPlace(j, draft) && j.units.size >= draft.units.size)
      .getOrElse(throw error(draft, left, left.isEmpty && store.isGone(draft.txn), e))
  }

  /** One that was undone, but for partitions that somebody has overwritten since, is kept as another operation. */
  private def tookPlace(left: Journal, draft: Journal): Boolean =
    left.state == JournalState.Done && left.operation == draft.operation

  /**
   * @param gone
   *   whether the journal is, and the commit has changed nothing; one that cannot be read may be of any state
   */
  private def error(draft: Journal, left: Option[Journal], gone: Boolean, e: Throwable): Throwable = e match {
    case other if left.exists(tookPlace(_, draft)) =>
      ZOrderException.over(
        other,
        "ZORDER_COMMIT_FAILED.IN_PART",
        "path" -> draft.home,
        "done" -> left.fold(0)(_.units.size),
        "count" -> draft.units.size,
        "cause" -> ZOrderException.firstLine(other))
    case known: ZOrderException if gone || left.exists(!_.isExchanging) => known
    case lost: LostAnswer if !gone =>
      ZOrderException.over(
        lost.getCause,
        "ZORDER_COMMIT_UNKNOWN.CATALOG",
        "path" -> draft.home,
        "cause" -> ZOrderException.firstLine(lost.getCause))
    case other =>
      ZOrderException.over(
        other,
        if (gone || left.exists(_.state == JournalState.Done)) "ZORDER_COMMIT_FAILED.NOTHING_CHANGED"
        else "ZORDER_COMMIT_FAILED.UNFINISHED",
        "path" -> draft.home,
        "cause" -> ZOrderException.firstLine(other))
  }
}

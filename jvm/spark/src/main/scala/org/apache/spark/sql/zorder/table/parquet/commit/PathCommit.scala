package org.apache.spark.sql.zorder.table.parquet.commit

import scala.annotation.tailrec
import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.catalyst.catalog.{
  CatalogStatistics,
  CatalogTable,
  CatalogTablePartition,
  SessionCatalog
}
import org.apache.spark.sql.zorder.errors.{ZOrderConflictException, ZOrderException}
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.{CatalogProperties, RunRecord, StateDir}
import org.apache.spark.sql.zorder.table.parquet.files.{
  ActiveWriters,
  DirectoryListing,
  FileMoves,
  FilePermissions,
  MountPoints,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit
}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint}

/**
 * The commit of a table whose directories are exchanged in place (`CommitWay.Exchange`), whether it was opened by
 * its path or by its name: all under one journal.
 *
 * @param mark
 *   what the catalog says of the exchange
 * @param waitMs
 *   how long to wait for a job that is writing to the table
 */
private[zorder] final class PathCommit(store: JournalStore, mark: ExchangeMark, waitMs: Long) {

  private val fs: FileSystem = store.fs

  /**
   * Puts the staged directories of `draft` in place. The `kept` of its units may still be empty.
   *
   * @throws org.apache.spark.sql.zorder.errors.ZOrderConflictException
   *   if somebody changed the table during the run; then nothing was changed
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   if the file system failed; it says whether the table is as it was or waits for recovery
   */
  def commit(draft: Journal, record: RunRecord, layouts: Map[String, String]): Journal = {
    Journal.begin(draft.txn)
    try {
      val prepared = prepare(draft, record, layouts)
      Heartbeat.during(store, draft.txn)(new PathCompletion(store, mark).finish(swap(prepared)))
    } catch {
      case crash: CrashPoint.Crash => throw crash
      case Cancellation.OrNonFatal(e) =>
        // the table must not stay half exchanged until the next run; while it counts as active, no query of this JVM
        // settles it as well
        Cancellation.deferred(e) {
          try
            if (store.get(draft.txn).forall(_.owner == Journal.thisJvm))
              PathRecovery.settle(store, mark, draft.txn, waitMs)
            else PathRecovery.awaitExchange(store, mark, draft.txn)
          catch { case NonFatal(again) => e.addSuppressed(again) }
          FailedCommit.outcome(store, draft, e)
        }
    } finally Journal.end(draft.txn)
  }

  private def prepare(draft: Journal, record: RunRecord, layouts: Map[String, String]): Journal = {
    // before the copies of carried-over files, which may take long, and before anything is said to be
    // prepared
    val units = refreshed(draft)
    CrashPoint.hit("synced")
    units.foreach(u => CarriedOverFiles.copyPermissions(fs, u, u.target))
    // where old partitions wait for the vacuum, nobody may read what the table's directory keeps from them
    if (units.exists(_.target != draft.home)) {
      fs.mkdirs(store.retired(draft.txn))
      FilePermissions.copy(fs, draft.home, store.retired(draft.txn))
    }
    val stateHome = units.find(_.target == draft.home).map(_.staged).getOrElse(draft.staging)
    val number = new StateDir(fs, draft.home).nextNumber()
    new StateDir(
      fs,
      stateHome).stage(record.copy(number = number, location = Some(draft.home.toString)), layouts)
    val prepared = store.write(draft.copy(units = units).at(JournalState.Prepared))
    CrashPoint.hit("prepared")
    prepared
  }

  private def swap(prepared: Journal): Journal = {
    // what came meanwhile; a conflict or a job is found here before any directory is away
    val units = refreshed(prepared)
    val swapping = begin(prepared.copy(units = units))
    CrashPoint.hit("swapping")
    val swap = new DirectoryRenames(fs, waitMs)
    var done = Vector.empty[SwapUnit]
    swapping.units.zipWithIndex.foreach { case (unit, i) =>
      checkOurs(prepared.txn)
      swap.forward(unit, PathCompletion.stray(store, swapping, i)) match {
        case DirectoryRenames.Swapped(ready) =>
          NestedFiles.lift(fs, ready)
          done :+= ready
        case DirectoryRenames.Refused(why) =>
          val undoing = swapping.copy(units = done ++ swapping.units.drop(i)).at(JournalState.Undoing)
          new PathCompletion(store, mark).undo(store.write(undoing), waitMs)
          throw why
      }
    }
    swapping.copy(units = done)
  }

  /** A machine that has slept for too long counts as dead, and another session goes on in its place. */
  private def checkOurs(txn: String): Unit =
    if (!store.get(txn).exists(j => j.owner == Journal.thisJvm && j.state == JournalState.Swapping))
      throw new IllegalStateException(s"Another session has taken over the commit $txn")

  /**
   * Says in the catalog and in the journal that directories may be away from now on. Whoever begins in the same moment finds
   * this journal ([[beginAlone]]), or has put its mark over this one's and is waited for.
   */
  @tailrec
  private def begin(prepared: Journal): Journal = {
    beginAlone(prepared.txn)
    // none for a path, and for a table that was dropped
    val own = mark.marked
    CrashPoint.hit("marked")
    val swapping = store.write(prepared.at(JournalState.Swapping))
    // another one's mark is over it, or the end of another one has written it away
    if (mark.marked == own && own.forall(_ == prepared.txn)) swapping
    else begin(store.write(prepared))
  }

  /**
   * The catalog names one exchange at a time: of two, queries would miss what the other one has away. Waits as long as the
   * other one lives.
   */
  @tailrec
  private def beginAlone(txn: String): Unit = {
    mark.marked.filter(_ != txn).flatMap(journalOf).foreach { journal =>
      if (journal.kind == JournalKind.Path) PathRecovery.awaitExchange(store, mark, journal.txn)
      // wait for one that is done, too: its `end` writes all properties, and could write ours away
      def isThere =
        mark.marked.contains(journal.txn) && store.get(journal.txn).exists(Heartbeat.isAlive(store, _))
      while (isThere) Thread.sleep(OtherMs)
    }
    CrashPoint.hit("before-mark")
    mark.begin(txn)
    // those that this one has not seen, nor they this one: its mark may be over theirs, or theirs over its
    val beside = if (mark.marked.contains(txn)) exchanging(txn) else Nil
    beside.foreach(PathRecovery.awaitExchange(store, mark, _))
    if (mark.marked.exists(_ != txn) || beside.nonEmpty && mark.marked.isEmpty) beginAlone(txn)
  }

  /** The other commits that have directories away. */
  private def exchanging(txn: String): Seq[String] =
    store.known().filter(j => j.txn != txn && j.kind == JournalKind.Path && j.isExchanging).map(_.txn)

  /**
   * The journal of another commit; None if it has ended. It waits for one that is hidden, and refuses if it stays so: a
   * directory may be away, and without the mark queries would miss its rows.
   */
  private def journalOf(other: String): Option[Journal] = {
    val end = System.nanoTime + waitMs * 1000000L
    def hidden: Option[String] =
      if (!mark.marked.contains(other) || store.get(other).isDefined) None
      else JournalStore.baseOf(fs, store.parent, other)
    while (hidden.isDefined && System.nanoTime < end) Thread.sleep(OtherMs)
    hidden.foreach { base =>
      refuse(
        "ZORDER_NO_PERMISSION.READ_JOURNAL",
        "file" -> JournalStore(fs, store.parent, base).file(other),
        "path" -> new Path(store.parent, store.base))
    }
    store.get(other)
  }

  private val OtherMs = 200L

  /** Waits for jobs, and stages the files that are beside the inputs then: one listing of each directory for both. */
  private def refreshed(journal: Journal): Seq[SwapUnit] =
    journal.units.zip(ActiveWriters.awaitUploads(fs, journal.home, journal.units.map(_.target), waitMs)).map {
      case (unit, now) =>
        CarriedOverFiles.checkInputs(unit, now)
        // anybody's vacuum may have deleted them
        val present = now.files.toSet
        CarriedOverFiles.checkOutputs(fs, unit, unit.kept.filter(k => k.isData && present(k)))
        CarriedOverFiles.sync(fs, unit, now)
    }
}

/**
 * The renames that put one directory in place of another. Each step first looks at what is there, so that it can be
 * repeated after a crash at any point.
 */
private[parquet] final class DirectoryRenames(fs: FileSystem, waitMs: Long) {

  import DirectoryRenames._

  /** target -> old, then staged -> target. If the old data is not as expected, old -> target again. */
  def forward(unit: SwapUnit, stray: Path): Outcome =
    if (MountPoints.isPoint(unit.target)) {
      backward(unit, stray)
      Refused(new ZOrderException("ZORDER_DIRECTORY_REFUSED.MOUNTED_MEANWHILE", "dir" -> unit.target))
    } else if (!fs.exists(unit.staged)) {
      if (fs.exists(unit.old) && fs.exists(unit.target)) Swapped(unit)
      else {
        backward(unit, stray)
        gone(unit, unit.staged)
      }
    } else if (!fs.exists(unit.old) && !fs.exists(unit.target)) gone(unit, unit.target)
    else
      moved(unit).flatMap(_ => checkedAndSynced(unit)) match {
        case Left(why) =>
          backward(unit, stray)
          Refused(why)
        case Right(ready) =>
          CrashPoint.hit("checked-old")
          // somebody created it again while it was away: what they wrote becomes part of the new data
          if (fs.exists(ready.target)) {
            putAside(ready, stray, ready.staged, Set.empty)
            CrashPoint.hit("moved-stray")
          } else takeOver(stray, ready.staged, Set.empty)
          FileMoves.rename(fs, ready.staged, ready.target)
          CrashPoint.hit("moved-new")
          Swapped(ready)
      }

  /** target -> old, unless a job has begun there while other units were exchanged. */
  private def moved(unit: SwapUnit): Either[ZOrderConflictException, Unit] =
    if (fs.exists(unit.old)) Right(())
    else
      try {
        // a job that begins now would lose its scratch directory
        ActiveWriters.awaitUploads(fs, unit.target, waitMs)
        FileMoves.rename(fs, unit.target, unit.old)
        CrashPoint.hit("moved-old")
        Right(())
      } catch { case e: ZOrderConflictException => Left(e) }

  private def gone(unit: SwapUnit, dir: Path): Outcome =
    Refused(new ZOrderConflictException("ZORDER_CONFLICT.DIRECTORY_DELETED", "dir" -> dir))

  /**
   * target -> staged, then old -> target. Files that arrived in the target meanwhile are copied to the old data. If the
   * staged directory still exists, the target is not ours, and it moves to `stray`.
   */
  def backward(unit: SwapUnit, stray: Path): Unit =
    if (fs.exists(unit.old)) {
      if (MountPoints.isPoint(unit.target)) copyBack(unit)
      else {
        moveBack(unit, stray)
        CrashPoint.hit("undo-moved-old")
      }
    }

  /**
   * Whether none of the new files is left of those that were put in place: the old rows must not come back then. Spark
   * deletes the directory of a partition as it begins to overwrite it.
   */
  def isOverwritten(unit: SwapUnit): Boolean =
    unit.outputs.nonEmpty && !fs.exists(unit.staged) && fs.exists(unit.old) && {
      val there = DirectoryListing.walk(fs, unit.target).files.map(_.rel).toSet
      !unit.outputs.exists(o => there(o.rel))
    }

  private def moveBack(unit: SwapUnit, stray: Path): Unit = {
    val ours = (unit.outputs ++ unit.kept).map(_.rel).toSet
    if (fs.exists(unit.target)) {
      putAside(unit, if (fs.exists(unit.staged)) stray else unit.staged, unit.old, ours)
      deleteEmptyScratch(unit.old)
      CrashPoint.hit("undo-moved-new")
    } else Seq(stray, unit.staged).foreach(takeOver(_, unit.old, ours))
    FileMoves.rename(fs, unit.old, unit.target)
  }

  /**
   * A mount point cannot be the target of a rename. The data beside it was copied there by Hadoop, perhaps only in
   * part.
   */
  private def copyBack(unit: SwapUnit): Unit = {
    DirectoryListing.walk(fs, unit.old).files.foreach { f =>
      val to = new Path(unit.target, f.rel)
      if (!FileMoves.status(fs, to).exists(_.getLen == f.length))
        FileMoves.copy(fs, new Path(unit.old, f.rel), to, f)
    }
    fs.delete(unit.old, true)
    ()
  }

  private def checkedAndSynced(unit: SwapUnit): Either[ZOrderConflictException, SwapUnit] =
    try {
      // from here on nobody adds to it by its name: what is rewritten is what is there
      val now = DirectoryListing.walk(fs, unit.old)
      ActiveWriters.jobOrUpload(fs, now).foreach(ActiveWriters.stop(unit.target, _))
      CarriedOverFiles.checkInputs(unit, now)
      Right(CarriedOverFiles.sync(fs, unit, now))
    } catch { case e: ZOrderConflictException => Left(e) }

  /**
   * Moves the target away when all that is not ours in it was copied into `to`. A job at work there is waited for, as
   * its commit looks in that place for what its tasks wrote; one that begins just then gets the directory back.
   */
  @tailrec
  private def putAside(unit: SwapUnit, aside: Path, to: Path, ours: Set[String]): Unit = {
    ActiveWriters.await(fs, unit.target, waitMs)
    UnfinishedFiles.bring(fs, unit.target, to, ours, moves = false)
    CrashPoint.hit("undo-carried")
    takeOver(aside, to, ours) // of an attempt that died
    fs.delete(aside, true)
    FileMoves.rename(fs, unit.target, aside)
    takeOver(aside, to, ours)
    if (DirectoryListing.walk(fs, aside).writer.isDefined && !fs.exists(unit.target)) {
      FileMoves.rename(fs, aside, unit.target)
      putAside(unit, aside, to, ours)
    }
  }

  /** Brings data files from a directory that is deleted afterwards, as far as they are not there yet. */
  private def takeOver(from: Path, to: Path, ours: Set[String]): Unit =
    UnfinishedFiles.bring(fs, from, to, ours, moves = true)

  /** Deletes the empty scratch directory of a job that began here. Its tasks had made the directory again. */
  private def deleteEmptyScratch(dir: Path): Unit =
    DirectoryListing.walk(fs, dir).scratchDirs.foreach(d => FileMoves.deleteEmptyDirs(fs, new Path(dir, d)))
}

private[parquet] object DirectoryRenames {

  /** How a swap ended. */
  sealed trait Outcome
  final case class Swapped(unit: SwapUnit) extends Outcome
  final case class Refused(why: ZOrderException) extends Outcome
}

/**
 * Files in `mon=1/mon=1`, which nobody reads. A job's committer that renames its directory to `mon=1` on HDFS moves it
 * into that directory where one has just appeared there. Its rows are appended ones.
 */
private[parquet] object NestedFiles {

  def lift(fs: FileSystem, unit: SwapUnit): Unit =
    if (unit.partition.nonEmpty) lift(fs, unit.target, Seq(unit))

  /**
   * Moves them up, but for those that a commit has found there and carried over: they have not come in an exchange, and
   * nobody knows what they are.
   *
   * @param dir
   *   of a partition
   * @param exchanges
   *   that have made it
   */
  def lift(fs: FileSystem, dir: Path, exchanges: => Seq[SwapUnit]): Unit = {
    val nested = new Path(dir, dir.getName)
    val tree = DirectoryListing.walk(fs, nested)
    if (tree.writer.isEmpty && tree.data.nonEmpty) {
      val made = exchanges
      val before = made.flatMap(_.kept).toSet
      val come = tree.data.filterNot(f => before(f.copy(rel = s"${dir.getName}/${f.rel}")))
      if (made.nonEmpty && come.nonEmpty) {
        come.foreach(f => FileMoves.rename(fs, new Path(nested, f.rel), new Path(dir, f.rel)))
        FileMoves.deleteEmptyDirs(fs, nested)
      }
      ()
    }
  }
}

/**
 * What the catalog says of an exchange of directories. While the property `zorder.exchanging` names a commit, some of
 * the table's directories may be away for a moment, and whoever lists the table then misses their rows. The property
 * `zorder.txn` names the last commit, so a reader can tell whether one took place while it was listing.
 */
private[zorder] trait ExchangeMark {

  /** When a run begins to write: from now on, queries look for what comes. Its commit changes the property again. */
  def announce(txn: String): Unit

  /** Before the first rename. */
  def begin(txn: String): Unit

  /** The commit that it is of, if there is one. */
  def marked: Option[String]

  /**
   * After the last rename, forward or back; `units` are those that hold new data. Does nothing if the catalog has
   * no mark of this commit.
   */
  def end(txn: String, units: Seq[SwapUnit]): Unit
}

private[zorder] object ExchangeMark {
  val Property = "zorder.exchanging"

  // What `zorder.txn` says beside the id of a commit that is done. No two states between which directories go may look
  // alike, or a query could not tell that they went while it was listing.

  /** The first run over the table has begun. */
  def before(txn: String): String = s"before $txn"

  /** Partitions are being given other places. */
  def onTheWay(txn: String): String = s"to $txn"

  /** A commit was taken back after the catalog had named its places. */
  def undone(txn: String): String = s"undone $txn"

  /** For a path that no table of the catalog is known to lie at. */
  object Unmarked extends ExchangeMark {
    override def announce(txn: String): Unit = ()
    override def begin(txn: String): Unit = ()
    override def marked: Option[String] = None
    override def end(txn: String, units: Seq[SwapUnit]): Unit = ()
  }

  def of(session: ClassicSession, table: Option[CatalogTable]): ExchangeMark =
    table.fold[ExchangeMark](Unmarked)(t => new OfTable(session, t.identifier))

  final private class OfTable(session: ClassicSession, ident: TableIdentifier)
      extends ExchangeMark with Logging {
    private val catalog: SessionCatalog = session.sessionState.catalog

    override def announce(txn: String): Unit =
      change(p =>
        if (p.contains(CatalogCommit.TxnProperty)) p
        else p + (CatalogCommit.TxnProperty -> ExchangeMark.before(txn)))

    override def begin(txn: String): Unit = change(_ + (Property -> txn))

    override def end(txn: String, units: Seq[SwapUnit]): Unit = if (marked.contains(txn)) {
      // sizes are hints to the optimizer: that they are old must not fail a commit that took place. They are written with
      // all properties, so before another exchange, which waits for the mark to go, writes its own one
      try renewSizes(units)
      catch { case NonFatal(e) => logWarning(s"The sizes of ${ident.unquotedString} were not renewed", e) }
      change { p =>
        val ended = p + (CatalogCommit.TxnProperty -> txn)
        if (p.get(Property).contains(txn)) ended - Property else ended
      }
    }

    override def marked: Option[String] =
      if (catalog.tableExists(ident)) catalog.getTableRawMetadata(ident).properties.get(Property)
      else None

    /** A dropped table needs no mark. */
    private def change(wanted: Map[String, String] => Map[String, String]): Unit =
      if (catalog.tableExists(ident)) CatalogProperties.change(catalog, ident)(wanted)

    /**
     * The sizes that the catalog has of the table and of its partitions; what it has not got is not counted. Hive's size of
     * a table is left to Hive.
     */
    private def renewSizes(units: Seq[SwapUnit]): Unit = if (catalog.tableExists(ident) && units.nonEmpty) {
      val table = catalog.getTableRawMetadata(ident)
      val before = units.flatMap(_.inputs).map(_.length).sum
      val after = units.flatMap(_.outputs).map(_.length).sum
      table.stats.filterNot(_ => HiveStatistics.areOf(catalog, ident)).foreach { s =>
        catalog.alterTableStats(ident, Some(resized(s, s.sizeInBytes - before + after)))
      }
      if (table.partitionColumnNames.nonEmpty) {
        val changed = for {
          p <- catalog.listPartitions(ident).map(HiveStatistics.without)
          unit <- units.find(u => new Path(p.location).toUri.getPath == u.target.toUri.getPath)
          renewed = sized(p, unit) if renewed != p
        } yield renewed
        if (changed.nonEmpty) catalog.alterPartitions(ident, changed)
      }
    }

    private def sized(p: CatalogTablePartition, unit: SwapUnit): CatalogTablePartition = {
      val files = (unit.outputs ++ unit.kept).filter(_.isData)
      val values = Map("totalSize" -> files.map(_.length).sum, "numFiles" -> files.size.toLong)
      p.copy(
        parameters = p.parameters.map { case (k, v) => k -> values.get(k).fold(v)(_.toString) },
        stats = p.stats.map(resized(_, values("totalSize"))))
    }

    private def resized(s: CatalogStatistics, bytes: BigInt): CatalogStatistics =
      s.copy(sizeInBytes = bytes.max(0))
  }
}

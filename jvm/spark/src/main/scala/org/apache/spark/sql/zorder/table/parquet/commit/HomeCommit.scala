package org.apache.spark.sql.zorder.table.parquet.commit

import scala.util.control.NonFatal

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.errors.ZOrderException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{Operation, RunRecord}
import org.apache.spark.sql.zorder.table.file.PathText
import org.apache.spark.sql.zorder.table.parquet.files.{
  ActiveWriters,
  CopyName,
  DirectoryListing,
  FileMoves,
  ListedFile,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Heartbeat,
  Journal,
  JournalKind,
  JournalState,
  SwapUnit,
  TableIdentity
}
import org.apache.spark.sql.zorder.table.storage.{AtomicRenames, Cancellation, CrashPoint}

/**
 * Brings the files of a table that has moved back to where they were before its first run: by renames where directories
 * are renamed in one step, elsewhere by copies. Each step can be repeated after a crash.
 */
private[zorder] final class HomeCommit(table: CatalogEntry, waitMs: Long) {

  private val fs: FileSystem = table.fs
  private val renames = AtomicRenames.on(table.session, fs)
  private val mark = ExchangeMark.of(table.session, Some(table.meta))

  /** What is not at home: `staged` is where it is, `target` its home. */
  def away(): Seq[SwapUnit] = {
    val homes = table.homes()
    table.liveDirs().toSeq.sortBy(_._1).collect {
      case (partition, dir) if PathText.of(homes(partition)) != PathText.of(dir) =>
        val files = DirectoryListing.walk(fs, dir).data.filterNot(UnfinishedFiles.is(fs, dir, _))
        SwapUnit(partition, homes(partition), dir, dir, Nil, Nil, files)
    }
  }

  /** What it takes to copy them, where that has to be. */
  def cost(units: Seq[SwapUnit]): Option[HomeCommit.Cost] = if (renames || units.isEmpty) None
  else {
    val files = units.flatMap(_.outputs)
    Some(HomeCommit.Cost(files.map(_.length).sum, files.size, 3 * files.size))
  }

  /**
   * Refuses a home that has files which are not the table's.
   *
   * @param goes
   *   whether a file there is one that the vacuum deletes first
   */
  def check(units: Seq[SwapUnit], goes: Path => Boolean): Unit = units.foreach { u =>
    val copied = u.outputs.map(f => (CopyName.of(u.staged, f), f.length)).toSet
    DirectoryListing.walk(fs, u.target).files
      .filterNot(f => marker(f) || copied(f.identity) || goes(new Path(u.target, f.rel)))
      .headOption.foreach(refuseFor("ZORDER_CANNOT_REMOVE.HOME_OCCUPIED", u, _, "sql" -> table.sql))
  }

  private def refuseFor(condition: String, unit: SwapUnit, file: ListedFile, more: (String, Any)*): Nothing =
    refuse(condition, Seq("file" -> s"${unit.target}/${file.rel}", "table" -> table.name) ++ more: _*)

  private def marker(f: ListedFile): Boolean =
    f.name == "_SUCCESS" || CarriedOverFiles.stale(f)

  /**
   * @param isOld
   *   whether a file at home is one that the vacuum should have deleted. It would become rows again
   */
  def bring(units: Seq[SwapUnit], isOld: Path => Boolean, statement: String): Unit = if (units.nonEmpty) {
    for (u <- units; f <- DirectoryListing.walk(fs, u.target).data if isOld(new Path(u.target, f.rel)))
      refuse("ZORDER_CANNOT_REMOVE.JOB_AT_WORK", "dir" -> u.target, "table" -> table.name)
    if (renames) rename(units) else copy(units, statement)
    table.reload()
    table.refresh()
  }

  private def rename(units: Seq[SwapUnit]): Unit = {
    val txn = Journal.newTxn("home")
    ActiveWriters.await(fs, table.root, units.map(_.staged) ++ units.map(_.target), waitMs)
    Journal.begin(txn)
    try {
      val prepared = table.store.write(
        draft(txn, table.store.staging(txn), units).at(JournalState.Prepared))
      try {
        checkAlone(txn)
        mark.begin(txn)
        val moving = table.store.write(prepared.at(JournalState.Swapping))
        CrashPoint.hit("home-moving")
        Heartbeat.during(table.store, txn)(forward(moving))
      } catch {
        case crash: CrashPoint.Crash => throw crash
        case Cancellation.OrNonFatal(e) => // as far as it goes: what is left is done by the next statement
          Cancellation.deferred(e) {
            try table.store.get(txn).foreach(settle)
            catch { case NonFatal(again) => e.addSuppressed(again) }
            if (!table.store.isGone(txn) || units.exists(u => fs.exists(u.staged))) throw e
          }
      }
    } finally Journal.end(txn)
  }

  /**
   * The catalog names one exchange at a time: the mark of another one would be lost. Of two that begin at the same time,
   * at least one sees the journal of the other.
   */
  private def checkAlone(txn: String): Unit = {
    def isOther(j: Journal) =
      j.txn != txn && j.state != JournalState.Done && !TableIdentity.isOfEarlier(j, table.identity)
    table.store.all().find(isOther).foreach { j =>
      refuse("ZORDER_CANNOT_REMOVE.UNFINISHED_RUN", "run" -> j.runId, "table" -> table.name)
    }
  }

  /** Finishes a way home by renames that died. */
  def settle(journal: Journal): Unit =
    if (journal.state == JournalState.Swapping) Heartbeat.during(table.store, journal.txn)(forward(journal))
    else {
      mark.end(journal.txn, Nil)
      table.store.delete(journal)
    }

  private def forward(journal: Journal): Unit = {
    try journal.units.foreach(u => if (fs.exists(u.staged)) move(u))
    catch {
      case refused: ZOrderException => // until somebody has made room, the catalog names what there is
        alter(journal.units.filterNot(u => fs.exists(u.staged)))
        throw refused
    }
    alter(journal.units)
    CrashPoint.hit("home-altered")
    journal.units.flatMap(u => table.topOf(u.staged)).distinct.foreach(FileMoves.deleteEmptyDirs(fs, _))
    mark.end(journal.txn, Nil)
    table.store.delete(journal)
  }

  private def move(unit: SwapUnit): Unit = {
    vacate(unit)
    // a job that began since
    val _ = ActiveWriters.await(fs, unit.staged, waitMs)
    FileMoves.deleteEmptyDirs(fs, unit.target)
    FileMoves.rename(fs, unit.staged, unit.target)
    CrashPoint.hit("home-moved")
  }

  /**
   * Makes room at home. What a job has written there since it was looked at goes into the table, as it would have if the
   * table had been at home.
   */
  private def vacate(unit: SwapUnit): Unit = {
    val there = ActiveWriters.await(fs, unit.target, waitMs).files
    if (there.nonEmpty) {
      val copies = unit.outputs.map(CopyName.of(unit.staged, _)).toSet
      UnfinishedFiles.bring(fs, unit.target, unit.staged, copies, moves = true)
      there.filter(f => marker(f) || f.isData && !UnfinishedFiles.is(fs, unit.target, f))
        .foreach(f => fs.delete(new Path(unit.target, f.rel), false))
      DirectoryListing.walk(fs, unit.target).files.headOption
        .foreach(refuseFor("ZORDER_CANNOT_REMOVE.HOME_TAKEN", unit, _))
    }
  }

  private def alter(units: Seq[SwapUnit]): Unit =
    if (units.isEmpty) ()
    else if (table.partitioned) {
      val now = table.partitions()
      val changed = for {
        u <- units
        p <- now.get(u.partition) if PathText.of(new Path(p.location)) == PathText.of(u.staged)
      } yield p.copy(storage = p.storage.copy(locationUri = Some(u.target.toUri)))
      if (changed.nonEmpty) table.catalog.alterPartitions(table.ident, changed)
    } else {
      val now = table.catalog.getTableRawMetadata(table.ident)
      val to = units.head.target.toUri
      if (PathText.of(new Path(now.location)) != PathText.of(units.head.target))
        table.catalog.alterTable(now.copy(storage = now.storage.copy(locationUri = Some(to))))
    }

  /** A commit of its own, whose old files the vacuum deletes. */
  private def copy(units: Seq[SwapUnit], statement: String): Unit = {
    val txn = Journal.newTxn("home")
    val copies = units.map(u => u.copy(staged = u.target, inputs = u.outputs, outputs = Nil))
    new CatalogCommit(table, waitMs).bring(
      draft(txn, table.newDirectory(txn), copies),
      RunRecord.of(Operation.MoveHome, txn, statement)) {
      copyAll(units, txn)
      CrashPoint.hit("home-copied")
      copies.map { u =>
        val there = SwapPlan.outputs(fs, u.target)
        val names = there.map(_.identity).toSet
        if (!u.inputs.forall(f => names((CopyName.of(u.old, f), f.length))))
          throw CarriedOverFiles.outputsGone(u.target)
        u.copy(outputs = there)
      }
    }
  }

  /** Copies of an attempt that died are taken as they are: their names say what they are copies of. */
  private def copyAll(units: Seq[SwapUnit], txn: String): Unit =
    CopyTasks.run(
      table,
      txn,
      "move home",
      for (u <- units; f <- u.outputs)
        yield (new Path(u.staged, f.rel), new Path(u.target, CopyName.of(u.staged, f)), f))

  private def draft(txn: String, staging: Path, units: Seq[SwapUnit]): Journal =
    Journal.draft(
      txn,
      JournalKind.Catalog,
      Operation.MoveHome,
      table.identity,
      txn,
      table.root,
      staging).copy(units = units)
}

private[parquet] object HomeCommit {

  /** Bytes and files that are read and written, and at least so many requests. */
  final case class Cost(bytes: Long, files: Int, requests: Int)
}

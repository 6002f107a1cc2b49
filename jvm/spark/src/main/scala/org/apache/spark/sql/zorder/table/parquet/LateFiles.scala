package org.apache.spark.sql.zorder.table.parquet

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{CommitRequest, Operation, RunRecord, VacuumStatus}
import org.apache.spark.sql.zorder.table.file.{DataFile, PathText}
import org.apache.spark.sql.zorder.table.parquet.commit.{NestedFiles, SwapPlan}
import org.apache.spark.sql.zorder.table.parquet.files.{
  CopyName,
  DirectoryListing,
  FileMoves,
  ListedFile,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{
  Journal,
  JournalKind,
  JournalState,
  JournalStore,
  SwapUnit
}
import org.apache.spark.sql.zorder.table.storage.{Cancellation, CrashPoint, ObjectStores}

/** What the user says of files that a job has written to a place where the table's files lay before. */
sealed abstract private[zorder] class LateChoice(val word: String, val status: VacuumStatus)

private[zorder] object LateChoice {

  /** The files become rows beside those that the table has. */
  case object Append extends LateChoice("APPEND", VacuumStatus.Appended)

  /** The files replace the rows that the table has there. */
  case object Replace extends LateChoice("REPLACE", VacuumStatus.Replaced)

  /** The files stay where they are and are no rows of the table. */
  case object Ignore extends LateChoice("IGNORE", VacuumStatus.Ignored)

  val all: Seq[LateChoice] = Seq(Append, Replace, Ignore)
}

/**
 * A file that arrived in a directory after its data had moved.
 *
 * @param journal
 *   which will say what was done with the file; none if there is no journal left
 * @param partition
 *   of the table, by its directories
 * @param dir
 *   where the file lies
 * @param home
 *   whether `dir` is where the files lay at first, and no journal names it any more
 * @param sure
 *   whether its rows are appended ones: the old files are all still there, and what the commit made of them, or it has
 *   arrived. A place whose files are gone may have been overwritten by path, and then the file stands for rows that the
 *   table has; a table whose files are gone was overwritten by name, and the rows of the file perhaps with it.
 * @param arrived
 *   whether the table has it: it was copied before a crash
 * @param far
 *   whether `dir` is not in the table's directory, nor beside it: only a partition that had a place of its own
 */
private[zorder] final case class LateDataFile(
    journal: Option[Journal],
    partition: String,
    dir: Path,
    file: ListedFile,
    home: Boolean,
    sure: Boolean,
    arrived: Boolean = false,
    far: Boolean = false) {
  def path: Path = new Path(dir, file.rel)

  /** The file as journals name it: by its full path. */
  def noted: ListedFile = file.under(dir)
}

/**
 * Late files come from a writer that had opened them before the data moved, or that knows the table by its old path.
 * Appended rows belong to the table, so they are copied to where it is now. Whether files are appended rows is known
 * only where all old files are still there; elsewhere the user is asked. A file that is still being written is no late file yet.
 * A copy has a name of its own, so it never takes the place of another file, and a file is known by path, length and
 * modification time, so another one of the same path is late again.
 */
private[zorder] object LateFiles {

  /** Late files of all finished commits that are neither copied nor ignored. */
  def find(table: ParquetTable): Seq[LateDataFile] = find(table, table.doneJournals())

  /** Late files of these finished commits. What comes to a partition that the table has not any more is no row of it. */
  def find(table: ParquetTable, done: Seq[Journal]): Seq[LateDataFile] = {
    // to know it, a path's files are read
    lazy val live = table.liveDirs()
    lazy val dirs = live.values.map(PathText.of).toSet
    val newest = JournalStore.newestOf(done)
    def isLeft(j: Journal, u: SwapUnit) =
      !dirs(PathText.of(u.old)) && live.contains(u.partition) && newest(PathText.of(u.old)) == j
    val inOldPlaces = for (j <- done; f <- inOld(table, j, j.units.filter(isLeft(j, _)))) yield f
    val stands = inOldPlaces.filter(_.sure).map(_.partition).distinct
      .filter(p => hasLastRun(table, done, p, live(p))).toSet
    val old = inOldPlaces.map(f => f.copy(sure = f.sure && stands(f.partition)))
    val home = table match {
      case moves: CatalogParquetTable => FirstPlaces.late(moves, done, live)
      case _ => Nil
    }
    val settled = done.flatMap(j => j.carried ++ j.ignored).toSet
    val unsettled = (old ++ home).filterNot(f => settled(f.noted))
    lazy val busy = committing(table, done)
    val open = unsettled.filterNot(f =>
      busy(PathText.of(f.dir)) || f.home && busy(PathText.of(live(f.partition))))
    lazy val copiedHome = copiesOf(
      table,
      open.filter(f => CopyName.is(f.file)).flatMap(f =>
        live.get(f.partition).map(f.partition -> _)).distinct)
    open.map { f =>
      val there = live.get(f.partition).exists(arrived(table, _, f)) ||
        (CopyName.is(f.file) && copiedHome((f.partition, f.file.rel, f.file.length)))
      f.copy(sure = f.sure || there, arrived = there)
    }
  }

  /**
   * Directories of commits that are not among the finished ones: what lies there may be on its way, as the copies that a
   * rollback makes. They are read after the places were listed.
   */
  private def committing(table: ParquetTable, done: Seq[Journal]): Set[String] = {
    val known = done.map(_.txn).toSet
    table.store.all().filter(j => !known(j.txn) && table.owns(j))
      .flatMap(_.units.flatMap(u => Seq(u.old, u.target, u.staged))).map(PathText.of).toSet
  }

  private def inOld(table: ParquetTable, journal: Journal, units: Seq[SwapUnit]): Seq[LateDataFile] = {
    val trees = units.map(u => u -> DirectoryListing.walk(table.store.fs, u.old))
    val again = isCopiedOntoItself(trees)
    trees.flatMap { case (u, tree) => inOld(table, journal, u, tree, again) }
  }

  /**
   * Whether all old files are there, and not one with its time: a copy with other keys, a restore. One file alone may as
   * well be another one.
   */
  private def isCopiedOntoItself(trees: Seq[(SwapUnit, DirectoryListing)]): Boolean = {
    val data = trees.map { case (u, tree) => (u.oldFiles.filter(_.isData), tree.files) }
    data.map(_._1.size).sum > 1 && data.forall { case (old, now) =>
      val there = now.map(_.identity).toSet
      old.forall(f => there(f.identity)) && old.intersect(now).isEmpty
    }
  }

  private def inOld(
      table: ParquetTable,
      journal: Journal,
      unit: SwapUnit,
      tree: DirectoryListing,
      again: Boolean): Seq[LateDataFile] = {
    val old = unit.oldFiles.toSet
    val names = old.map(_.rel)
    val identities = old.map(_.identity)
    def known(f: ListedFile) = old(f) || (again && identities(f.identity))
    val there = tree.files.map(_.identity).toSet
    // a journal whose files were vacuumed names none any more
    val whole = unit.inputs.nonEmpty && unit.oldFiles.filter(_.isData).forall(f => there(f.identity))
    tree.data.filterNot(f => known(f) || UnfinishedFiles.is(table.store.fs, unit.old, f)).map(f =>
      LateDataFile(
        Some(journal),
        unit.partition,
        unit.old,
        f,
        home = false,
        // one of the name of an old file has taken its place
        sure = whole && !names(f.rel)))
  }

  /** Whether a partition still has a file of its last commit. Else it was overwritten since, and late files with it. */
  private def hasLastRun(table: ParquetTable, done: Seq[Journal], partition: String, dir: Path): Boolean = {
    val last = done.flatMap(_.units).filter(_.partition == partition).last
    val made = (last.outputs ++ last.kept).filter(_.isData)
    lazy val there = DirectoryListing.walk(table.store.fs, dir).files.map(_.identity).toSet
    made.isEmpty || made.exists(f => there(f.identity))
  }

  /** By its own name, or as the same file: an object store does not keep the modification time of what is copied. */
  private def arrived(table: ParquetTable, dir: Path, late: LateDataFile): Boolean = {
    val fs = table.store.fs
    FileMoves.status(fs, place(late, dir)).exists(_.getLen == late.file.length) ||
    (!ObjectStores.isOne(fs.getUri.getScheme) && FileMoves.status(fs, new Path(dir, late.file.rel)).exists(
      s =>
        s.getLen == late.file.length && s.getModificationTime == late.file.modified))
  }

  /** What an attempt to bring the files of these partitions home makes of them: partition, name and length. */
  private def copiesOf(table: ParquetTable, live: Seq[(String, Path)]): Set[(String, String, Long)] =
    live.flatMap {
      case (partition, dir) =>
        DirectoryListing.walk(table.store.fs, dir).data.map(f => (partition, CopyName.of(dir, f), f.length))
    }.toSet

  /**
   * Refuses to go on before the user has said what files are that may be rows which the table has already.
   *
   * @param found
   *   by `find`
   */
  def ask(table: ParquetTable, found: Seq[LateDataFile]): Unit =
    found.filterNot(_.sure).sortBy(_.path.toString).headOption.foreach { first =>
      refuse(
        "ZORDER_CHOICE_NEEDED.LATE_FILES",
        "dir" -> first.dir,
        "table" -> table.name,
        "file" -> first.file.rel,
        "sql" -> table.sql)
    }

  /** Copies appended files into the table. */
  def carry(table: ParquetTable): Unit = carryAll(table, find(table))

  /** Copies appended files into the table, from those that `find` has just found. */
  def carryAll(table: ParquetTable, found: Seq[LateDataFile]): Unit = {
    ask(table, found)
    // a directory that is exchanged is away for a moment, in which a committer may make it anew
    val exchanged = if (table.kind == JournalKind.Path) table.liveDirs().toSeq.filter(_._1.nonEmpty) else Nil
    lazy val units = table.doneJournals().flatMap(_.units).groupBy(u => PathText.of(u.target))
    exchanged.foreach { case (_, dir) =>
      NestedFiles.lift(table.store.fs, dir, units.getOrElse(PathText.of(dir), Nil))
    }
    carry(table, found)
  }

  private def carry(table: ParquetTable, found: Seq[LateDataFile]): Unit = {
    val live = table.liveDirs()
    val ready = found.filter(f => live.contains(f.partition) && writerIn(table, f.dir).isEmpty)
    ready.foreach(f => copy(table, f, live(f.partition)))
    copied(table, ready)
  }

  /**
   * Their rows are the table's now. In the default directory of a partition they would become rows once more if
   * somebody dropped the partition and added it again; elsewhere the vacuum deletes them. A place far away may be
   * another table's, so files stay there.
   */
  private def copied(table: ParquetTable, files: Seq[LateDataFile]): Unit = if (files.nonEmpty) {
    CrashPoint.hit("late-copied")
    val (home, old) = files.partition(_.home)
    val (far, near) = home.partition(_.far)
    table match {
      case moved: CatalogParquetTable => delete(moved, near)
      case _ =>
    }
    note(table, far)((j, noted) => j.copy(ignored = j.ignored ++ noted))
    note(table, old)((j, noted) => j.copy(carried = j.carried ++ noted))
  }

  /** A table may come home while they are deleted: then they are its files, or about to be. */
  private def delete(table: CatalogParquetTable, files: Seq[LateDataFile]): Unit =
    files.grouped(DeletedAtOnce).foreach { group =>
      val used =
        committing(table, table.doneJournals()) ++ table.entry.again.liveDirs().values.map(PathText.of)
      group.filterNot(f => used(PathText.of(f.dir))).foreach(f =>
        if (isThere(table, f)) table.store.fs.delete(f.path, false))
    }

  private val DeletedAtOnce = 100

  /** Not another one, which has come to its place since. */
  private def isThere(table: ParquetTable, late: LateDataFile): Boolean =
    FileMoves.status(table.store.fs, late.path).exists(s =>
      s.getLen == late.file.length && s.getModificationTime == late.file.modified)

  /**
   * Carries out what the user has said of the files that may be rows which the table has already.
   *
   * @return
   *   the files by their directories
   */
  def settle(table: ParquetTable, choice: LateChoice, statement: String): Map[Path, Seq[LateDataFile]] = {
    val found = find(table).filterNot(_.sure)
    found.map(_.dir).distinct.foreach(dir =>
      writerIn(table, dir).foreach(scratch =>
        throw new ZOrderConflictException(
          "ZORDER_CONFLICT.JOB_IN_OLD_DIRECTORY",
          "dir" -> dir,
          "scratch" -> scratch)))
    choice match {
      case LateChoice.Append => carry(table, found)
      case LateChoice.Replace =>
        val inputs = table.files().groupBy(_.partition)
        val (full, empty) = found.partition(f => inputs.contains(f.partition))
        if (full.nonEmpty)
          replace(table, full, full.map(_.partition).distinct.flatMap(inputs), statement)
        copied(table, full)
        // where there are no rows, none is replaced
        carry(table, empty)
      case LateChoice.Ignore => note(table, found)((j, files) => j.copy(ignored = j.ignored ++ files))
    }
    found.groupBy(_.dir)
  }

  /** A commit of their partitions, which hold nothing but these files afterwards. */
  private def replace(
      table: ParquetTable,
      found: Seq[LateDataFile],
      inputs: Seq[DataFile],
      statement: String): Unit = {
    val spelling = table.dirByName.map(_.swap)
    val runId = UUID.randomUUID().toString.take(8)
    val journal = table.stage(runId, Operation.Replace)
    try {
      found.foreach { f =>
        copy(table, f, SwapPlan.below(journal.staging, spelling.getOrElse(f.partition, f.partition)))
      }
      val record = RunRecord.of(Operation.Replace, runId, statement).copy(rewritten = inputs)
      table.commit(journal, CommitRequest(record, Map.empty))
    } catch { case e: Throwable => Cancellation.deferred(e)(table.discard(journal)); throw e }
  }

  private def note(table: ParquetTable, files: Seq[LateDataFile])(
      noted: (Journal, Seq[ListedFile]) => Journal): Unit =
    files.groupBy(_.journal.map(_.txn)).foreach { case (txn, found) =>
      // a copy that is not noted would be made again after the next run
      txn.fold(Option(blank(table)))(table.store.getOrRefuse).foreach(j =>
        table.store.write(noted(j, found.map(_.noted))))
    }

  /** A journal that names nothing, where all others are deleted. */
  private def blank(table: ParquetTable): Journal =
    table.draft(Journal.newTxn(""), Operation.Replace, "").at(JournalState.Done)

  private def writerIn(table: ParquetTable, dir: Path): Option[String] =
    DirectoryListing.walk(table.store.fs, dir).writer

  private def copy(table: ParquetTable, late: LateDataFile, dir: Path): Unit = {
    val to = place(late, dir)
    if (!late.arrived && !FileMoves.status(table.store.fs, to).exists(_.getLen == late.file.length))
      FileMoves.copy(table.store.fs, late.path, to, late.file)
  }

  private def place(late: LateDataFile, dir: Path): Path = new Path(dir, CopyName.of(late.dir, late.file))
}

package org.apache.spark.sql.zorder.table.parquet

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.errors.ZOrderConflictException
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{CommitRequest, Operation, RunRecord}
import org.apache.spark.sql.zorder.table.parquet.commit.{NestedFiles, SwapPlan}
import org.apache.spark.sql.zorder.table.parquet.files.{
  DirectoryListing,
  FileMoves,
  ListedFile,
  UnfinishedFiles
}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalKind, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** What the user says of files that a job has written to a place where the table's files lay before. */
sealed abstract private[zorder] class LateChoice(val word: String, val status: String)

private[zorder] object LateChoice {

  /** The files become rows beside those that the table has. */
  case object Append extends LateChoice("APPEND", "APPENDED")

  /** The files replace the rows that the table has there. */
  case object Replace extends LateChoice("REPLACE", "REPLACED")

  /** The files stay where they are and are no rows of the table. */
  case object Ignore extends LateChoice("IGNORE", "IGNORED")

  val all: Seq[LateChoice] = Seq(Append, Replace, Ignore)
}

/**
 * A file that arrived in a directory after its data had moved.
 *
 * @param journal
 *   of the commit that moved the data
 * @param partition
 *   of the table, by its directories
 * @param dir
 *   where the file lies
 * @param home
 *   whether `dir` is the default directory of a managed table's partition, which a run has emptied
 * @param sure
 *   whether its rows are appended ones: the old files are all still there, or it has arrived. A place whose files are
 *   gone may have been overwritten by path, and then the file stands for rows that the table has.
 * @param arrived
 *   whether the table has a file of that name and length: it was copied before a crash
 */
private[zorder] final case class LateDataFile(
    journal: Journal,
    partition: String,
    dir: Path,
    file: ListedFile,
    home: Boolean,
    sure: Boolean,
    arrived: Boolean = false) {
  def path: Path = new Path(dir, file.rel)

  /** The file as journals name it: by its full path. */
  def noted: ListedFile = file.copy(rel = path.toString)
}

/**
 * Late files come from a writer that had opened them before the data moved, or that knows the table by its old path.
 * Appended rows belong to the table, so they are copied to where it is now. Whether files are appended rows is known
 * only where all old files are still there; elsewhere the user is asked. A file that is still being written is no late file yet.
 */
private[zorder] object LateFiles {

  /** Late files of all finished commits that are neither copied nor ignored. */
  def find(table: ParquetTable): Seq[LateDataFile] = find(table, table.doneJournals())

  /** The same of these finished commits. */
  def find(table: ParquetTable, done: Seq[Journal]): Seq[LateDataFile] = {
    // to know it, a path's files are read
    lazy val live = table.liveDirs()
    lazy val dirs = live.values.map(_.toUri.getPath).toSet
    val old = for {
      j <- done
      u <- j.units if !dirs(u.old.toUri.getPath)
      f <- inOld(table, j, u)
    } yield f
    (old ++ atHome(table, done)).filterNot(f => f.journal.settled(f.path))
      .map { f =>
        val there = arrived(table, live, f)
        f.copy(sure = f.sure || there, arrived = there)
      }
  }

  private def inOld(table: ParquetTable, journal: Journal, unit: SwapUnit): Seq[LateDataFile] = {
    val tree = DirectoryListing.walk(table.store.fs, unit.old)
    val known = unit.named.map(_.rel).toSet
    val there = tree.files.map(f => (f.rel, f.length)).toSet
    // a journal whose files were vacuumed names none any more
    val whole = unit.inputs.nonEmpty && unit.named.filter(_.isData).forall(f => there((f.rel, f.length)))
    tree.data.filterNot(f => known(f.rel) || UnfinishedFiles.is(table.store.fs, unit.old, f)).map(
      LateDataFile(
        journal,
        unit.partition,
        unit.old,
        _,
        home = false,
        sure = whole))
  }

  /** Late files in the default directory of a managed table's partition, which a run has emptied and put elsewhere. */
  private def atHome(table: ParquetTable, done: Seq[Journal]): Seq[LateDataFile] = table match {
    case t: CatalogParquetTable if t.isManaged && t.partitioned =>
      val moved = done.flatMap(j => j.units.map(u => u.target.toUri.getPath -> j)).toMap
      for {
        (partition, dir) <- t.liveDirs().toSeq.sortBy(_._1)
        journal <- moved.get(dir.toUri.getPath).toSeq
        own = SwapPlan.below(t.root, partition) if own.toUri.getPath != dir.toUri.getPath
        f <- DirectoryListing.walk(t.store.fs, own).data if !UnfinishedFiles.is(t.store.fs, own, f)
      } yield LateDataFile(journal, partition, own, f, home = true, sure = false)
    case _ => Nil
  }

  private def arrived(table: ParquetTable, live: Map[String, Path], late: LateDataFile): Boolean =
    live.get(late.partition).exists(dir =>
      FileMoves.status(table.store.fs, new Path(dir, late.file.rel)).exists(_.getLen == late.file.length))

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
        "file" -> first.file.rel)
    }

  /** Copies appended files into the table. */
  def carry(table: ParquetTable): Unit = carryAll(table, find(table))

  /** Copies appended files into the table, from those that `find` has just found. */
  def carryAll(table: ParquetTable, found: Seq[LateDataFile]): Unit = {
    ask(table, found)
    // a directory that is exchanged is away for a moment, in which a committer may make it anew
    val exchanged = if (table.kind == JournalKind.Path) table.liveDirs().toSeq.filter(_._1.nonEmpty) else Nil
    exchanged.foreach(p => NestedFiles.lift(table.store.fs, p._2))
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
   * somebody dropped the partition and added it again; elsewhere the vacuum deletes them.
   */
  private def copied(table: ParquetTable, files: Seq[LateDataFile]): Unit = if (files.nonEmpty) {
    CrashPoint.hit("late-copied")
    val (home, old) = files.partition(_.home)
    home.foreach(f => table.store.fs.delete(f.path, false))
    note(table, old)((j, noted) => j.copy(carried = j.carried ++ noted))
  }

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
        if (found.nonEmpty) replace(table, found, statement)
        copied(table, found)
      case LateChoice.Ignore => note(table, found)((j, files) => j.copy(ignored = j.ignored ++ files))
    }
    found.groupBy(_.dir)
  }

  /** A commit of their partitions, which hold nothing but these files afterwards. */
  private def replace(table: ParquetTable, found: Seq[LateDataFile], statement: String): Unit = {
    val partitions = found.map(_.partition).toSet
    val inputs = table.files().filter(f => partitions(f.partition))
    val runId = UUID.randomUUID().toString.take(8)
    val journal = table.stage(runId, Operation.Replace)
    try {
      found.foreach(f => copy(table, f, SwapPlan.below(journal.staging, f.partition)))
      val record = RunRecord.of(Operation.Replace, runId, statement).copy(rewritten = inputs)
      table.commit(journal, CommitRequest(record, Map.empty))
    } catch { case e: Throwable => table.discard(journal); throw e }
  }

  private def note(table: ParquetTable, files: Seq[LateDataFile])(
      noted: (Journal, Seq[ListedFile]) => Journal): Unit =
    files.groupBy(_.journal.txn).foreach { case (txn, found) =>
      table.store.get(txn).foreach(j => table.store.write(noted(j, found.map(_.noted))))
    }

  private def writerIn(table: ParquetTable, dir: Path): Option[String] =
    DirectoryListing.walk(table.store.fs, dir).writer

  private def copy(table: ParquetTable, late: LateDataFile, dir: Path): Unit = {
    val to = new Path(dir, late.file.rel)
    if (!FileMoves.status(table.store.fs, to).exists(_.getLen == late.file.length))
      FileMoves.copy(table.store.fs, late.path, to, late.file.modified)
  }
}

package org.apache.spark.sql.zorder.table.parquet

import org.apache.hadoop.fs.{FileSystem, Path}

import org.apache.spark.sql.zorder.table.Vacuumed
import org.apache.spark.sql.zorder.table.parquet.commit.{PathCompletion, PathRecovery, UntouchedFiles}
import org.apache.spark.sql.zorder.table.parquet.files.{
  DirectoryListing,
  FileMoves,
  HiddenDirectories,
  ListedFile,
  SymbolicLinks
}
import org.apache.spark.sql.zorder.table.parquet.journal.{Journal, JournalState, JournalStore, SwapUnit}
import org.apache.spark.sql.zorder.table.storage.{CrashPoint, TextFiles}

/**
 * Deletes files that a journal names as rewritten or copied, and nothing else.
 *
 * What a directory's row says: DELETED, WATCHED (empty, the first place of an external table), KEPT (younger
 * than the retention), CARRIED_OVER (late rows alone), LINK (leads to a directory that is not ours),
 * WRITER_IN_FLIGHT, FILES_LEFT (files that no journal names), ABANDONED (staging of a run that died), NO_JOURNAL
 * (ours by name, but nothing tells what it is).
 */
private[zorder] final class ParquetVacuum(table: ParquetTable, retentionMs: Long, dryRun: Boolean) {

  private val store: JournalStore = table.store
  private val fs: FileSystem = store.fs
  private val live: Set[String] = table.liveDirs().values.map(path).toSet
  private val now = System.currentTimeMillis

  def run(): Seq[Vacuumed] = {
    val abandoned = unfinished()
    val late = LateFiles.find(table).groupBy(_._2.old).map { case (old, found) => old -> found.size.toLong }
    val home = LateFiles.atHome(table).groupBy(_._1).toSeq.map { case (own, found) =>
      Vacuumed(own, 0, 0, found.size.toLong, "CARRIED_OVER")
    }
    if (!dryRun) LateFiles.carry(table)
    val inUse = table.files().map(_.path).toSet
    val purged = for {
      j <- done()
      u <- j.units if !live(path(u.old)) && fs.exists(u.old)
    } yield purge(j, u, late.getOrElse(u.old, 0L), inUse)
    if (!dryRun) forget()
    abandoned ++ home ++ purged ++ unexplained()
  }

  /** Also those of a dropped table of the same name: their old files are named as well. */
  private def done(): Seq[Journal] = {
    val kinds = if (table.identity.nonEmpty) Set("path", "catalog") else Set("path")
    store.all().filter(j => j.state == JournalState.Done && kinds(j.kind))
  }

  private def purge(journal: Journal, unit: SwapUnit, carried: Long, inUse: Set[String]): Vacuumed = {
    val tree = DirectoryListing.walk(fs, unit.old)
    val named = unit.named.toSet
    val copied = store.get(journal.txn).toSeq.flatMap(_.carried).toSet
    def mayGo(f: ListedFile): Boolean =
      !inUse(s"${tree.root}/${f.rel}") && !SymbolicLinks.onTheWay(unit.old, f.rel) &&
        (named(f) || UntouchedFiles.stale(f.rel) || marker(f) || copied(f.copy(rel =
          new Path(unit.old, f.rel).toString)))
    val (go, stay) = tree.files.partition(mayGo)
    val linked = SymbolicLinks.target(unit.old).isDefined
    if (now - journal.changedMs < retentionMs) Vacuumed(unit.old, 0, 0, carried, "KEPT")
    else if (linked) Vacuumed(unit.old, 0, 0, carried, "LINK")
    else if (tree.writer.isDefined) Vacuumed(unit.old, 0, 0, carried, "WRITER_IN_FLIGHT")
    else {
      if (!dryRun) {
        go.foreach { f =>
          fs.delete(new Path(unit.old, f.rel), false)
          CrashPoint.hit("vacuum-deleted")
        }
        if (stay.isEmpty && !keepsDirectory(unit)) FileMoves.deleteEmptyDirs(fs, unit.old)
      }
      val left = if (dryRun) stay.size > carried else stay.nonEmpty
      val status =
        if (left) "FILES_LEFT" else if (tree.files.isEmpty && watched(unit)) "WATCHED" else "DELETED"
      Vacuumed(unit.old, go.size.toLong, go.map(_.length).sum, carried, status)
    }
  }

  /** What a job that came late has left beside its files, which are carried over. */
  private def marker(f: ListedFile): Boolean = f.length == 0 && f.rel.split('/').last == "_SUCCESS"

  /** The directory of an external table is its owner's, who may write there by path. */
  private def keepsDirectory(unit: SwapUnit): Boolean = table match {
    case t: CatalogParquetTable => t.external && unit.old.getName == t.base
    case _ => false
  }

  /** Commits that died: finished or withdrawn when they are old enough. */
  private def unfinished(): Seq[Vacuumed] = {
    val patience = math.min(retentionMs, PathRecovery.StagingMs)
    val before = store.all().filter(j => j.state != JournalState.Done && !j.active)
      .filter(j => j.owner == Journal.thisJvm || now - j.changedMs >= patience)
    if (!dryRun) table match {
      case t: CatalogParquetTable => CatalogRecovery.recover(t, patience)
      case _ => PathRecovery.recover(fs, table.root, stagingMs = patience)
    }
    before.map(j => Vacuumed(j.staging, 0, 0, 0, "ABANDONED"))
  }

  /** Journals whose old directories are gone have nothing more to say. */
  private def forget(): Unit = done().foreach { j =>
    val left = j.units.filter(u => fs.exists(u.old) && !live(path(u.old)))
      .map(u => if (watched(u)) u.copy(inputs = Nil, kept = Nil, outputs = Nil) else u)
    if (left.isEmpty) {
      FileMoves.deleteEmptyDirs(fs, store.retired(j.txn))
      if (j.kind == "catalog") emptyParents(j)
      store.delete(j)
    } else if (left != j.units) store.write(j.copy(units = left))
  }

  /** Emptied, but somebody may still write there by path: a journal without files goes on naming it. */
  private def watched(unit: SwapUnit): Boolean =
    keepsDirectory(unit) && DirectoryListing.walk(fs, unit.old).files.isEmpty

  /** What held the partitions of an earlier run: `t.z<txn>`, or `.z<txn>` inside a managed table. */
  private def emptyParents(journal: Journal): Unit = journal.units.foreach { u =>
    HiddenDirectories.topOf(table.root, u.old)
      .orElse(topOf(u.old)
        .filter(p => p.getParent == store.parent && p.getName.startsWith(s"${store.base}.z")))
      .filterNot(p => live.exists(l => l == path(p) || l.startsWith(s"${path(p)}/")))
      .foreach(p => FileMoves.deleteEmptyDirs(fs, p))
  }

  private def topOf(dir: Path): Option[Path] =
    Iterator.iterate(dir)(_.getParent).takeWhile(_ != null).find(_.getParent == store.parent)

  private def unexplained(): Seq[Vacuumed] = {
    val known = store.all().flatMap(j =>
      Seq(store.retired(j.txn), store.staging(j.txn)).map(_.getName) ++
        j.units.indices.map(i => PathCompletion.stray(store, j, i).getName)).toSet
    unexplainedInside() ++ TextFiles.children(fs, store.parent)
      .filter(s => s.isDirectory && store.isOurs(s.getPath.getName) && !known(s.getPath.getName))
      .map(s => Vacuumed(s.getPath, 0, 0, 0, "NO_JOURNAL"))
  }

  private def unexplainedInside(): Seq[Vacuumed] = {
    val used =
      live ++ store.all().flatMap(j => j.staging +: j.units.flatMap(u => Seq(u.old, u.target))).map(path)
    val (empty, full) = HiddenDirectories.all(fs, table.root)
      .filterNot(dir => used.exists(u => u == path(dir) || u.startsWith(s"${path(dir)}/")))
      .partition(dir => DirectoryListing.walk(fs, dir).files.isEmpty)
    if (!dryRun) empty.foreach(FileMoves.deleteEmptyDirs(fs, _))
    full.map(Vacuumed(_, 0, 0, 0, "NO_JOURNAL"))
  }

  private def path(p: Path): String = p.toUri.getPath.stripSuffix("/")
}

package org.apache.spark.sql.zorder.table.parquet

import java.util.Locale

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.errors.ZOrderException.{notAgreed, refuse}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.parquet.commit.{CommitWait, HomeCommit}
import org.apache.spark.sql.zorder.table.parquet.journal.JournalState
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** What the user says of the files of a table that has moved, when the table is left. */
sealed abstract private[zorder] class HomeChoice(val words: String)

private[zorder] object HomeChoice {

  /** They go back to where they were before the first run. */
  case object MoveHome extends HomeChoice("MOVE HOME")

  /** They stay where they are. */
  case object Stay extends HomeChoice("STAY")
}

/**
 * `ZORDER REMOVE`: removes every trace of this project from a table. Files that have moved go home, on an object store
 * only if the user says so, since that is a copy of the table.
 */
private[zorder] object ParquetRemove {

  def run(
      session: ClassicSession,
      table: ParquetTable,
      choice: Option[HomeChoice],
      statement: String): Unit = {
    val (copies, others) = LateFiles.find(table).partition(_.arrived)
    LateFiles.ask(table, others)
    val late = others.map(_.dir)
    if (late.nonEmpty)
      refuse(s"${late.size} files came late into old directories of ${table.name} (${late.head}); " +
        "run ZORDER VACUUM first, which carries them over.")
    table.store.all().find(j => j.state != JournalState.Done).foreach { j =>
      refuse(s"The run ${j.runId} is working on ${table.name}, or died; " +
        "let it end, or run ZORDER VACUUM first.")
    }
    val left = new ParquetVacuum(table, 0L, dryRun = true).run()
      .find(r => r.status != "DELETED" && r.status != "WATCHED")
    left.foreach { r =>
      refuse(s"${r.path} holds files that no run of ${table.name} has written (${r.status}); " +
        "move them away first.")
    }
    val home = wayHome(table, choice)
    // what an attempt that died has copied home already
    val spared = if (home.isDefined) copies.map(_.path.toString).toSet else Set.empty[String]
    new ParquetVacuum(table, 0L, dryRun = false, spared).run()
    home.foreach { bring =>
      bring(statement)
      // where they were copied, what they were copied from
      new ParquetVacuum(table, 0L, dryRun = false).run()
    }
    table.store.all().filter(table.owns).foreach(table.store.delete)
    table.store.fs.delete(table.state.dir, true)
    CrashPoint.hit("removed-state")
    table.catalogName.foreach(dropProperties(session, _))
  }

  /** What brings the files home, after everything has been checked; None if they are there, or stay. */
  private def wayHome(table: ParquetTable, choice: Option[HomeChoice]): Option[String => Unit] = table match {
    case moved: CatalogParquetTable if !choice.contains(HomeChoice.Stay) =>
      val commit = new HomeCommit(moved.entry, CommitWait.of(moved.session))
      val away = commit.away()
      val deleted = moved.doneJournals().flatMap(j =>
        j.carried.map(_.rel) ++ j.units.flatMap(u => u.named.map(f => new Path(u.old, f.rel).toString))).toSet
      commit.check(away, file => deleted(file.toString))
      if (choice.isEmpty) commit.cost(away).foreach { cost =>
        notAgreed(
          s"The files of ${moved.name} have moved, and a directory cannot be renamed in one step where they are: " +
            s"bringing them home to ${away.head.target} means $cost. Say ZORDER REMOVE ${moved.name} MOVE HOME to do " +
            s"that, or ZORDER REMOVE ${moved.name} STAY to leave them in ${away.head.staged}.")
      }
      Some(away).filter(_.nonEmpty).map(units => commit.bring(units, _))
    case _ => None
  }

  private def dropProperties(session: ClassicSession, ident: TableIdentifier): Unit = {
    val meta = session.sessionState.catalog.getTableRawMetadata(ident)
    val (ours, others) = meta.properties.partition(_._1.toLowerCase(Locale.ROOT).startsWith("zorder."))
    if (ours.nonEmpty) session.sessionState.catalog.alterTable(meta.copy(properties = others))
  }
}

package org.apache.spark.sql.zorder.table.parquet

import java.util.Locale

import org.apache.spark.sql.catalyst.TableIdentifier
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.parquet.journal.JournalState
import org.apache.spark.sql.zorder.table.storage.CrashPoint

/** `ZORDER REMOVE`: removes every trace of this project from a table. Its data stays as it is. */
private[zorder] object ParquetRemove {

  def run(session: ClassicSession, table: ParquetTable): Unit = {
    LateFiles.ask(table)
    val late = LateFiles.find(table).map(_.dir)
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
    new ParquetVacuum(table, 0L, dryRun = false).run()
    table.store.all().filter(table.owns).foreach(table.store.delete)
    table.store.fs.delete(table.state.dir, true)
    CrashPoint.hit("removed-state")
    table.catalogName.foreach(dropProperties(session, _))
  }

  private def dropProperties(session: ClassicSession, ident: TableIdentifier): Unit = {
    val meta = session.sessionState.catalog.getTableRawMetadata(ident)
    val (ours, others) = meta.properties.partition(_._1.toLowerCase(Locale.ROOT).startsWith("zorder."))
    if (ours.nonEmpty) session.sessionState.catalog.alterTable(meta.copy(properties = others))
  }
}

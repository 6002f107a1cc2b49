package org.apache.spark.sql.zorder.skip

import scala.util.control.NonFatal

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.skip.index.{IndexPlace, IndexStore, StatisticsIndex}
import org.apache.spark.sql.zorder.table.{ClusterTable, TableRef}
import org.apache.spark.sql.zorder.table.parquet.ParquetTable
import org.apache.spark.sql.zorder.table.resolve.TableResolver

/** Keeps the index of a table up with commits, which may put the table's files elsewhere. */
final class IndexUpkeep private (session: ClassicSession, index: StatisticsIndex, place: IndexStore)
    extends Logging {

  private var behind = false

  /** The table has other files now than the index. */
  def committed(): Unit = behind = true

  /** After the last commit. What goes wrong here costs skipping, and the commits stand. */
  def afterCommits(ref: TableRef): Unit = if (behind) refresh(ref)

  private def refresh(ref: TableRef): Unit =
    try {
      val table = IndexStatements.plain(session, ref)
      val store = IndexStore.of(session, table.root)
      IndexStatements.refreshed(
        session,
        table,
        store,
        store.newest().fold(index)(_._2),
        strict = false)
      // where indexes lie elsewhere, a table that has moved has another folder now
      if (store.dir != place.dir && IndexPlace.in(session.sessionState.conf).isElsewhere) {
        val _ = place.drop()
      }
    } catch {
      case NonFatal(e) =>
        logWarning(
          s"The statistics index of ${ref.sql} is behind its files: run ZORDER REFRESH INDEX ${ref.sql}",
          e)
    }
}

object IndexUpkeep {

  /** The index to keep up, read before a commit takes the table's old directory away; None without one. */
  def before(session: ClassicSession, table: ClusterTable): Option[IndexUpkeep] = table match {
    case plain: ParquetTable =>
      try {
        val store = IndexStore.of(session, plain.root)
        store.newest().map { case (_, index) => new IndexUpkeep(session, loaded(index), store) }
      } catch { case NonFatal(_) => None }
    case _ => None
  }

  /** The same before a statement on a table that is not open yet. */
  def before(session: ClassicSession, ref: TableRef): Option[IndexUpkeep] =
    try before(session, TableResolver.locate(session, ref))
    catch { case NonFatal(_) => None }

  /** Every column is loaded now: its file may be gone later. */
  private def loaded(index: StatisticsIndex): StatisticsIndex = {
    index.columns.indices.foreach(index.rangesAt)
    index
  }
}

package org.apache.spark.sql.zorder.table.parquet.journal

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException

import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.storage.ObjectStores

/**
 * Commits in progress and dead ones, for statements that only read. Such a statement reports them and leaves them to
 * their owner or to the next statement that changes the table.
 */
private[zorder] object UnfinishedCommits {

  /** A user who may not list the parent directory can still read the table. */
  def journals(store: JournalStore): Seq[Journal] =
    try store.all()
    catch { case _: AccessControlException => Nil }

  /**
   * One sentence, if there is such a commit.
   *
   * @param owns
   *   whether a journal is the table's own
   */
  def notice(name: String, store: JournalStore, owns: Journal => Boolean): Option[String] =
    journals(store).find(j => j.state != JournalState.Done && owns(j)).map { j =>
      s"The run ${j.runId} is at work on $name, or died: this statement has read the table as it is and " +
        "left that alone."
    }

  /**
   * Refuses in the moment between two renames, when a directory is away and its rows would be missing.
   *
   * @param journals
   *   beside the table; not asked for on an object store, where nothing is renamed
   * @param identity
   *   of a managed table; journals of a dropped table of the same name do not count
   */
  def refuseDuringExchange(
      name: String,
      fs: FileSystem,
      journals: => Seq[Journal],
      identity: String): Unit =
    if (!ObjectStores.isOne(fs.getUri.getScheme))
      away(fs, journals, identity).foreach { case (j, dir) =>
        refuse(
          s"The run ${j.runId} is exchanging the directories of $name, or died while doing so, and $dir " +
            "is away at the moment: run this statement again, or, if no run is at work, run ZORDER VACUUM first, " +
            "which finishes the exchange.")
      }

  private def away(fs: FileSystem, journals: Seq[Journal], identity: String): Option[(Journal, Path)] = {
    val moving = journals.filter(j =>
      j.kind == JournalKind.Path && !TableIdentity.differ(
        j.table,
        identity) && (j.state == JournalState.Swapping || j.state == JournalState.Undoing))
    moving.flatMap(j => j.units.map(j -> _.target)).find { case (_, dir) => !fs.exists(dir) }
  }
}

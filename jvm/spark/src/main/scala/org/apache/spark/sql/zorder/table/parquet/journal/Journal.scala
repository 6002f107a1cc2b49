package org.apache.spark.sql.zorder.table.parquet.journal

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.parquet.files.ListedFile

/** How far a commit has come. */
private[zorder] object JournalState {

  /** A run is writing its staging directory. */
  val Staging = "STAGING"

  /** The staged data is complete; the table is untouched. */
  val Prepared = "PREPARED"

  /** Directories are being renamed: to be finished, whoever does it. */
  val Swapping = "SWAPPING"

  /** Directories are being renamed back. */
  val Undoing = "UNDOING"

  /** The new data is the table's; `old` directories wait for vacuum. */
  val Done = "DONE"
}

/**
 * One directory that is put in place of another: the whole table, or one partition.
 *
 * @param partition
 *   as in [[org.apache.spark.sql.zorder.table.file.DataFile]]; "" when unpartitioned
 * @param target
 *   where the new data ends up
 * @param staged
 *   where the new data is prepared (the target itself in a catalog commit)
 * @param old
 *   where the old data is once this is done
 * @param inputs
 *   files of the old data that were rewritten
 * @param kept
 *   files of the old data that were copied
 * @param outputs
 *   the new files
 */
private[zorder] final case class SwapUnit(
    partition: String,
    target: Path,
    staged: Path,
    old: Path,
    inputs: Seq[ListedFile],
    kept: Seq[ListedFile],
    outputs: Seq[ListedFile]) {

  /** What vacuum may delete in `old`. */
  def named: Seq[ListedFile] = inputs ++ kept
}

/**
 * What is known of one commit, kept beside the table so that anybody can finish or undo it.
 *
 * @param txn
 *   unique to this commit
 * @param kind
 *   `path` (directories are renamed) or `catalog` (locations are altered)
 * @param operation
 *   `OPTIMIZE` or `ROLLBACK`
 * @param owner
 *   the JVM that is at it
 * @param table
 *   which table of the catalog, told apart from a dropped one of that name; "" for a path
 * @param home
 *   where `_zorder/` is; the table root
 * @param carried
 *   full paths of files that came late into an `old` directory and were copied into the table
 */
private[zorder] final case class Journal(
    txn: String,
    kind: String,
    operation: String,
    state: String,
    owner: String,
    table: String,
    runId: String,
    changedMs: Long,
    home: Path,
    staging: Path,
    units: Seq[SwapUnit],
    carried: Seq[ListedFile]) {

  def at(newState: String): Journal =
    copy(state = newState, owner = Journal.thisJvm, changedMs = System.currentTimeMillis)

  /** True when a commit of this very JVM is still working on it. */
  def active: Boolean = Journal.isActive(txn)
}

private[zorder] object Journal {

  /** Told apart from all other JVMs, so that our own dead commits need no waiting. */
  val thisJvm: String = UUID.randomUUID.toString

  private val activeTxns = java.util.concurrent.ConcurrentHashMap.newKeySet[String]()

  def isActive(txn: String): Boolean = activeTxns.contains(txn)
  def begin(txn: String): Unit = { activeTxns.add(txn); () }
  def end(txn: String): Unit = { activeTxns.remove(txn); () }

  /** A name that no earlier commit beside this table has. */
  def newTxn(runId: String): String = {
    val id = runId.filter(c => c < 128 && c.isLetterOrDigit)
    s"$id${UUID.randomUUID.toString.replace("-", "").take(if (id.isEmpty) 12 else 6)}"
  }
}

package org.apache.spark.sql.zorder.table.parquet.journal

import java.util.UUID

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.Operation
import org.apache.spark.sql.zorder.table.parquet.files.ListedFile
import org.apache.spark.sql.zorder.table.storage.LocalProcesses

/**
 * One directory that takes the place of another: the whole table or one partition.
 *
 * @param partition
 *   as in [[org.apache.spark.sql.zorder.table.file.DataFile]]; "" when unpartitioned
 * @param target
 *   where the new data ends up
 * @param staged
 *   where the new data is prepared (in a catalog commit, the target itself)
 * @param old
 *   where the old data is after the commit
 * @param inputs
 *   files of the old data that were rewritten
 * @param kept
 *   files of the old data that were not rewritten and were copied to the new data
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
 * Everything about one commit, kept beside the table so that anybody can finish or undo it.
 *
 * @param txn
 *   unique to this commit
 * @param owner
 *   the JVM that works on it
 * @param table
 *   which table of the catalog (see [[TableIdentity]]); "" for a path
 * @param home
 *   the table's root, where `_zorder/` is
 * @param carried
 *   full paths of files that arrived late in an `old` directory and were copied into the table
 * @param ignored
 *   full paths of files in such a directory of which the user has said that they are no rows of the table
 * @param process
 *   of the owner (see [[LocalProcesses]]), by which its own machine knows at once that it is dead
 */
private[zorder] final case class Journal(
    txn: String,
    kind: JournalKind,
    operation: Operation,
    state: JournalState,
    owner: String,
    table: String,
    runId: String,
    changedMs: Long,
    home: Path,
    staging: Path,
    units: Seq[SwapUnit],
    carried: Seq[ListedFile],
    ignored: Seq[ListedFile] = Nil,
    process: String = "") {

  def at(newState: JournalState): Journal = copy(
    state = newState,
    owner = Journal.thisJvm,
    changedMs = System.currentTimeMillis,
    process = LocalProcesses.own)

  /** Whether it is known what a late file is. */
  def settled(late: Path): Boolean = (carried ++ ignored).exists(_.rel == late.toString)

  /** Whether a commit of this JVM is still working on it. */
  def active: Boolean = Journal.isActive(txn)
}

private[zorder] object Journal {

  /** Identifies this JVM: its own dead commits are recovered without waiting. */
  val thisJvm: String = UUID.randomUUID.toString

  private val activeTxns = java.util.concurrent.ConcurrentHashMap.newKeySet[String]()

  def isActive(txn: String): Boolean = activeTxns.contains(txn)
  def begin(txn: String): Unit = { activeTxns.add(txn); () }
  def end(txn: String): Unit = { activeTxns.remove(txn); () }

  /** A commit that has not staged anything yet. */
  def draft(
      txn: String,
      kind: JournalKind,
      operation: Operation,
      table: String,
      runId: String,
      home: Path,
      staging: Path): Journal =
    Journal(
      txn,
      kind,
      operation,
      JournalState.Staging,
      thisJvm,
      table,
      runId,
      System.currentTimeMillis,
      home,
      staging,
      units = Nil,
      carried = Nil,
      process = LocalProcesses.own)

  /** An id that no earlier commit of the table has. */
  def newTxn(runId: String): String = {
    val id = runId.filter(c => c < 128 && c.isLetterOrDigit)
    s"$id${UUID.randomUUID.toString.replace("-", "").take(if (id.isEmpty) 12 else 6)}"
  }
}

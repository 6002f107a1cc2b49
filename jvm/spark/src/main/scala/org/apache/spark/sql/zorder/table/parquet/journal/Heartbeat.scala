package org.apache.spark.sql.zorder.table.parquet.journal

import java.util.concurrent.TimeUnit.MILLISECONDS

import scala.util.Try

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.zorder.table.storage.{LocalProcesses, TextFiles}
import org.apache.spark.util.ThreadUtils

/**
 * A small file beside the journal, written again every two seconds while directories are exchanged, so that nobody
 * takes a long exchange for a dead one and goes on with it at the same time.
 */
private[zorder] object Heartbeat {
  private val EveryMs = 2000L

  /** How long an exchange of another machine may be silent before it counts as dead. */
  val LeaseMs: Long = 10000L

  def during[A](store: JournalStore, txn: String)(body: => A): A = {
    val thread = ThreadUtils.newDaemonSingleThreadScheduledExecutor("zorder-exchange")
    def write(): Unit = {
      Try(TextFiles.replace(store.fs, store.beat(txn), System.currentTimeMillis.toString)); ()
    }
    thread.scheduleWithFixedDelay(() => write(), EveryMs, EveryMs, MILLISECONDS)
    try body
    finally {
      thread.shutdownNow()
      thread.awaitTermination(LeaseMs, MILLISECONDS)
      Try(store.fs.delete(store.beat(txn), false))
      ()
    }
  }

  /** Whether the JVM that works on the journal still does. */
  def isAlive(store: JournalStore, journal: Journal): Boolean =
    if (journal.owner == Journal.thisJvm) journal.active
    else !LocalProcesses.isDead(journal.process) && silentMs(store, journal) < LeaseMs

  /**
   * Makes this JVM the owner of a journal whose owner is dead, while `body` works on it. Of several sessions that try at
   * the same time one succeeds, by a file that only one can create. The others find an owner that is alive.
   */
  def inherit(store: JournalStore, dead: Journal)(body: Journal => Unit): Unit = {
    val claim = store.heir(dead.txn, dead.owner)
    if (TextFiles.claim(store.fs, claim, LocalProcesses.own)) {
      Journal.begin(dead.txn)
      // whoever held the claim until now may have been done
      try store.get(dead.txn).filter(_.owner == dead.owner).foreach(j => body(store.write(j.at(j.state))))
      finally {
        store.fs.delete(claim, false)
        Journal.end(dead.txn)
      }
    } else if (isAbandoned(store, claim)) store.fs.delete(claim, false)
    ()
  }

  /** A session died between its claim and its name in the journal. */
  private def isAbandoned(store: JournalStore, claim: Path): Boolean =
    TextFiles.read(store.fs, claim).exists(LocalProcesses.isDead) ||
      Try(store.fs.getFileStatus(claim)).toOption.exists(System.currentTimeMillis - _.getModificationTime > LeaseMs)

  private def silentMs(store: JournalStore, journal: Journal): Long = {
    val beat = TextFiles.read(store.fs, store.beat(journal.txn)).flatMap(t => Try(t.trim.toLong).toOption)
    System.currentTimeMillis - math.max(journal.changedMs, beat.getOrElse(0L))
  }
}

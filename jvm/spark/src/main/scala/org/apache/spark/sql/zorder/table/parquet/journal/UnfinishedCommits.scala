package org.apache.spark.sql.zorder.table.parquet.journal

import java.nio.file.AccessDeniedException
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.TimeUnit.MILLISECONDS
import java.util.concurrent.atomic.AtomicBoolean

import scala.annotation.tailrec
import scala.util.Try

import org.apache.hadoop.fs.{FileSystem, Path}
import org.apache.hadoop.security.AccessControlException
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.storage.{LocalProcesses, ObjectStores, TextFiles}
import org.apache.spark.util.ThreadUtils

/**
 * Commits in progress and dead ones, for statements that only read. Such a statement reports them and leaves them to
 * their owner or to the next statement that changes the table.
 */
private[zorder] object UnfinishedCommits {

  /** A user who may not list the parent directory, or may not read a journal, can still read the table. */
  def journals(store: JournalStore): Seq[Journal] =
    try store.known()
    catch { case _: AccessControlException | _: AccessDeniedException => Nil }

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
        refuse("ZORDER_RETRY_QUERY.DIRECTORY_AWAY", "run" -> j.runId, "table" -> name, "dir" -> dir)
      }

  /**
   * What a listing for a statement that reads finds while no directory is exchanged. One that is away for a moment would
   * be missing without a word, and all its rows in a copy. Waits for exchanges at work, and lists again after one.
   *
   * @param identity
   *   as above
   */
  def whole[A](name: String, store: JournalStore, identity: String, waitMs: Long)(listing: => A): A = {
    def isAtWork(j: Journal) = j.isExchanging && Heartbeat.isAlive(store, j)
    @tailrec
    def again(left: Int): A = {
      val end = System.nanoTime + MILLISECONDS.toNanos(waitMs)
      var before = journals(store)
      while (before.exists(isAtWork)) {
        if (System.nanoTime > end) refuseNotDone(name, waitMs)
        Thread.sleep(PollMs)
        before = journals(store)
      }
      refuseDuringExchange(name, store.fs, before, identity)
      val found = listing
      if (isUndisturbed(before, journals(store))) found
      else if (left == 0) refuseNotDone(name, waitMs)
      else again(left - 1)
    }
    again(MostListings)
  }

  private val MostListings = 5

  /** After so long a wait for an exchange. */
  def refuseNotDone(name: String, waitMs: Long): Nothing = refuse(
    "ZORDER_RETRY_QUERY.EXCHANGE_NOT_DONE",
    "table" -> name,
    "seconds" -> waitMs / 1000,
    "setting" -> SessionKeys.CommitWait.key)

  /** Whether no commit has put directories in place, nor tried to: one that is taken back leaves no journal. */
  private def isUndisturbed(before: Seq[Journal], after: Seq[Journal]): Boolean = {
    def step(j: Journal) =
      if (j.isExchanging || j.state == JournalState.Done) j.state else JournalState.Prepared
    val now = after.map(j => j.txn -> step(j)).toMap
    val earlier = before.map(j => j.txn -> step(j)).toMap
    earlier.forall { case (txn, state) => now.get(txn).contains(state) } &&
    now.forall { case (txn, state) => earlier.contains(txn) || state == JournalState.Prepared }
  }

  private val PollMs = 50L

  private def away(fs: FileSystem, journals: Seq[Journal], identity: String): Option[(Journal, Path)] = {
    val moving = journals.filter(j => j.isExchanging && !TableIdentity.isOfEarlier(j, identity))
    // on the way home, the catalog names the places that files are taken from
    val dirs = moving.flatMap(j =>
      j.units.map(u => j -> (if (j.kind == JournalKind.Path) u.target else u.staged)))
    dirs.find { case (_, dir) => !fs.exists(dir) }
  }
}

/**
 * A small file beside the journal, written again every two seconds while directories are exchanged or the catalog is
 * altered, so that nobody takes a long commit for a dead one and goes on with it at the same time.
 */
private[zorder] object Heartbeat {
  private val EveryMs = 2000L

  private val PollMs = 200L

  /** How long an exchange of another machine may be silent before it counts as dead. */
  val LeaseMs: Long = 10000L

  /** Clocks of machines that work on one table are not that far apart: after such a silence nobody needs to wait. */
  private val SkewMs = 300000L

  private val MostLooks = 1000

  def during[A](store: JournalStore, txn: String)(body: => A): A = {
    val thread = ThreadUtils.newDaemonSingleThreadScheduledExecutor("zorder-exchange")
    val written = new AtomicBoolean
    def write(): Unit = {
      written.set(true)
      Try(TextFiles.replace(store.fs, store.beat(txn), System.currentTimeMillis.toString)); ()
    }
    thread.scheduleWithFixedDelay(() => write(), EveryMs, EveryMs, MILLISECONDS)
    try body
    finally {
      thread.shutdownNow()
      // a statement that was cancelled would end with that, and not with its own error
      try thread.awaitTermination(LeaseMs, MILLISECONDS)
      catch { case _: InterruptedException => Thread.currentThread.interrupt() }
      if (written.get) Try(TextFiles.delete(store.fs, store.beat(txn)))
      ()
    }
  }

  /**
   * Whether the JVM that works on the journal still does. If its last sign of life is old by our clock, its own clock may
   * be wrong: then this waits for another sign, until an exchange would have been silent for too long.
   *
   * @param leaseMs
   *   how long that is
   */
  def isAlive(store: JournalStore, journal: Journal, leaseMs: Long = LeaseMs): Boolean =
    if (journal.owner == Journal.thisJvm) journal.active
    else !LocalProcesses.isDead(journal.process) && {
      val beat = beatMs(store, journal)
      val silent = System.currentTimeMillis - math.max(journal.changedMs, beat.getOrElse(0L))
      // where files move, a commit goes on in that state to its end
      val beats = journal.beats || journal.state == JournalState.Prepared && beat.isDefined
      if (!beats) math.abs(silent) < leaseMs
      else {
        val now = look(store, journal)
        silent < SkewMs && (math.abs(silent) < leaseMs || changes(store, journal, now.signs, leaseMs))
      }
    }

  @tailrec
  private def changes(store: JournalStore, journal: Journal, signs: Any, leaseMs: Long): Boolean = {
    val now = look(store, journal)
    if (now.signs != signs) true
    else if (now.isOlder(leaseMs)) false
    else {
      Thread.sleep(PollMs)
      changes(store, journal, signs, leaseMs)
    }
  }

  /** Signs of life, and since when this JVM has seen no other ones, by its own clock. */
  private case class Look(signs: Any, since: Long) {
    def isOlder(leaseMs: Long): Boolean = System.nanoTime - since > MILLISECONDS.toNanos(leaseMs)
  }

  private val looks = new ConcurrentHashMap[Path, Look]

  private def look(store: JournalStore, journal: Journal): Look = {
    val beat = store.beat(journal.txn)
    val signs =
      (TextFiles.read(store.fs, beat), store.get(journal.txn).map(j => (j.owner, j.state, j.changedMs)))
    look(beat, signs)
  }

  private def look(file: Path, signs: Any): Look = {
    // most are of exchanges that are over; for another one we would only wait longer
    if (looks.size > MostLooks) looks.clear()
    looks.compute(
      file,
      (_, last) => if (last != null && last.signs == signs) last else Look(signs, System.nanoTime))
  }

  /**
   * Makes this JVM the owner of a journal whose owner is dead, while `body` works on it. Of several sessions that try at
   * the same time one succeeds, by a file that only one can create. The others find an owner that is alive.
   *
   * @param leaseMs
   *   how long such a file may stay as it is before its session counts as dead
   */
  def inherit(store: JournalStore, dead: Journal, leaseMs: Long = LeaseMs)(body: Journal => Unit): Unit = {
    val claim = store.heir(dead.txn, dead.owner)
    if (TextFiles.claim(store.fs, claim, LocalProcesses.own)) {
      Journal.begin(dead.txn)
      // whoever held the claim until now may have been done
      try store.get(dead.txn).filter(_.owner == dead.owner).foreach(j => body(store.write(j.at(j.state))))
      finally {
        // whatever fails, or this JVM would count as at work on it for ever
        try store.fs.delete(claim, false)
        finally Journal.end(dead.txn)
      }
    } else if (isAbandoned(store, claim, leaseMs)) store.fs.delete(claim, false)
    ()
  }

  /** A session died between its claim and its name in the journal. When it made the claim is told by another clock. */
  private def isAbandoned(store: JournalStore, claim: Path, leaseMs: Long): Boolean =
    TextFiles.read(store.fs, claim).exists(LocalProcesses.isDead) ||
      Try(store.fs.getFileStatus(claim).getModificationTime).toOption.exists { madeMs =>
        System.currentTimeMillis - madeMs > SkewMs || look(claim, madeMs).isOlder(leaseMs)
      }

  private def beatMs(store: JournalStore, journal: Journal): Option[Long] =
    TextFiles.read(store.fs, store.beat(journal.txn)).flatMap(t => Try(t.trim.toLong).toOption)
}

package org.apache.spark.sql.zorder.skipping.index

import java.io.InterruptedIOException
import java.lang.ref.SoftReference
import java.net.SocketTimeoutException
import java.nio.channels.ClosedByInterruptException
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}
import org.apache.spark.internal.Logging
import org.apache.spark.sql.internal.SQLConf
import org.apache.spark.sql.zorder.conf.SessionKeys

/**
 * The indexes that this JVM has loaded. Whether there is a newer one is asked again after a few seconds; an
 * older one does no harm meanwhile, since its entries are of files that have not changed. Memory that is
 * short takes them away, and so does the limit that the session sets.
 */
object LoadedIndexes extends Logging {

  /** How long a look at the store counts. */
  private val FreshNanos = 5L * 1000 * 1000 * 1000

  final private case class Key(root: Path, place: IndexPlace)

  private val memory = new IndexMemory[Key](key => { val _ = loaded.remove(key) })

  /**
   * @param file
   *   number and length of the newest index file, whole or not: while these are the same, so is the index
   * @param refused
   *   the limit that the index was too large for
   */
  final private class Loaded(
      val file: Option[(Long, Long)],
      val index: SoftReference[Option[StatisticsIndex]],
      val account: memory.Account,
      val refused: Option[Long],
      val lookedAt: Long)
  private lazy val loaded = new ConcurrentHashMap[Key, Loaded]()

  /** Tables whose users were told that the limit does not suffice. */
  private val told = ConcurrentHashMap.newKeySet[Key]()

  /** The index of the table at `root`, where the session keeps it; None without a whole one. Never fails. */
  def of(root: Path, session: SQLConf, conf: => Configuration): Option[StatisticsIndex] = {
    val key = Key(root, IndexPlace.in(session))
    try {
      val most = SessionKeys.SkippingMaxMemory.orDefault(session)
      memory.asked(key, most)
      val known = Option(loaded.get(key)).filter(_.refused.forall(_ == most))
      val cached = known.flatMap(l => Option(l.index.get))
      if (cached.isDefined && System.nanoTime() - known.get.lookedAt < FreshNanos) cached.get
      else {
        val store = IndexStore.of(root, key.place, conf)
        val listed = store.listed()
        val file = listed.headOption.map { case (n, status) => (n, status.getLen) }
        val same = known.filter(l => cached.isDefined && l.refused.isEmpty && l.file == file)
        val account = same.fold(memory.open(key))(_.account)
        val found = if (same.isDefined) Some(cached.get) else read(key, store, listed, account)
        val refused = if (found.isEmpty) Some(most) else None
        val index = found.flatten
        val now = new Loaded(file, new SoftReference(index), account, refused, System.nanoTime())
        // two threads may load the same index: the later one replaces the index and its account together
        memory.hold(key, account)(loaded.put(key, now))
        index
      }
    } catch {
      case NonFatal(e) =>
        logWarning(s"The statistics index of $root cannot be read: no files are skipped", e)
        // that counts as a look at the store, too: the next queries need not wait for it as well
        if (!isInterrupt(e)) {
          val account = memory.open(key)
          val none = new Loaded(None, new SoftReference(None), account, None, System.nanoTime())
          memory.hold(key, account)(loaded.put(key, none))
        }
        None
    }
  }

  /** After a statement of this JVM has changed the index. */
  def forget(root: Path): Unit = loaded.keySet.forEach { key =>
    if (key.root == root) {
      forget(key)
      val _ = told.remove(key)
    }
  }

  /** Whether the thread was interrupted. A store that is slow throws an InterruptedIOException, too. */
  private def isInterrupt(e: Throwable): Boolean = e match {
    case _: SocketTimeoutException => false
    case _: InterruptedIOException | _: ClosedByInterruptException => true
    case _ => false
  }

  private def forget(key: Key): Unit = {
    loaded.remove(key)
    memory.close(key)
  }

  /** Bytes that loaded indexes take, as they are counted against the limit. */
  private[skipping] def bytes: Long = memory.total

  /** The index, if one of the listed files is whole; None if it is too large. */
  private def read(
      key: Key,
      store: IndexStore,
      listed: Seq[(Long, FileStatus)],
      account: memory.Account): Option[Option[StatisticsIndex]] = {
    def admit(bytes: Long): Boolean = {
      val fits = account.admit(bytes)
      if (!fits && told.add(key))
        logWarning(
          s"${SessionKeys.SkippingMaxMemory.key} does not suffice for the statistics index of ${key.root}: what does " +
            "not fit is not loaded, and files are not skipped by it")
      fits
    }
    // its file system may have been closed: a later query opens the index by one that is open
    def failed(e: Throwable): Unit =
      if (IndexFile.isOfStorage(e) && !isInterrupt(e) &&
        Option(loaded.get(key)).exists(System.nanoTime() - _.lookedAt >= FreshNanos)) forget(key)
    try Some(store.newest(listed, admit, failed).map(_._2))
    catch { case _: IndexTooLarge => None }
  }
}

/**
 * The memory that loaded indexes take, under a limit for all of them together. Where one needs more, or there
 * are too many, those that were asked for longest ago are forgotten; queries that still use these keep them
 * until they are planned.
 *
 * @param forget
 *   is told whose index must go
 */
final private[skipping] class IndexMemory[K](forget: K => Unit) {

  /** A session may read a new directory every minute, for months, and each of them is asked for an index. */
  private val MostHeld = 10000

  // the one that was asked for longest ago comes first
  private val held = new java.util.LinkedHashMap[K, Account](16, 0.75f, true)
  private var limit = Long.MaxValue

  /** What one index takes; counted for all from [[hold]] on. */
  final class Account private[IndexMemory] (key: K) {
    private[IndexMemory] var bytes = 0L

    /** Whether this index alone, with so many bytes more, would stay below the limit. */
    def fits(more: Long): Boolean = IndexMemory.this.synchronized(bytes + more <= limit)

    /** Takes so many bytes more if they fit. */
    def admit(more: Long): Boolean = IndexMemory.this.synchronized {
      val admitted = fits(more)
      if (admitted) {
        bytes += more
        // harmless if the entry was evicted meanwhile
        if (held.get(key) eq this) shrink(Some(key))
      }
      admitted
    }
  }

  def open(key: K): Account = new Account(key)

  /** The index of this account is the one that `key` has from now on; `keep` puts it where others find it. */
  def hold(key: K, account: Account)(keep: => Unit): Unit = synchronized {
    held.put(key, account)
    keep
    shrink(Some(key))
  }

  /** A query asks for the index of `key`, in a session whose limit is `most` bytes. */
  def asked(key: K, most: Long): Unit = synchronized {
    limit = most
    held.get(key)
    if (total > limit) shrink(None)
  }

  def close(key: K): Unit = synchronized {
    val _ = held.remove(key)
  }

  def total: Long = synchronized {
    var sum = 0L
    held.values.forEach(a => sum += a.bytes)
    sum
  }

  private def shrink(spared: Option[K]): Unit = {
    var over = total - limit
    val eldest = held.entrySet.iterator
    while ((over > 0 || held.size > MostHeld) && eldest.hasNext) {
      val entry = eldest.next()
      if (!spared.contains(entry.getKey)) {
        over -= entry.getValue.bytes
        eldest.remove()
        forget(entry.getKey)
      }
    }
  }
}

package org.apache.spark.sql.zorder.skip.scan

/**
 * The memory that loaded indexes take, under a limit for all of them together. Where one needs more, those that were
 * asked for longest ago are forgotten; queries that still use these keep them until they are planned.
 *
 * @param forget
 *   is told whose index must go
 */
final private[scan] class IndexMemory[K](forget: K => Unit) {
  // the one that was asked for longest ago comes first
  private val held = new java.util.LinkedHashMap[K, Account](16, 0.75f, true)
  private var limit = Long.MaxValue

  /** What one index takes; counted for all from [[hold]] on. */
  final class Account private[IndexMemory] (key: K) {
    private[IndexMemory] var bytes = 0L

    /** Takes so many bytes more, or says that this index alone would exceed the limit. */
    def admit(more: Long): Boolean = IndexMemory.this.synchronized {
      val fits = bytes + more <= limit
      if (fits) {
        bytes += more
        // an index that was forgotten meanwhile is in nobody's way
        if (held.get(key) eq this) shrink(Some(key))
      }
      fits
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
    while (over > 0 && eldest.hasNext) {
      val entry = eldest.next()
      if (!spared.contains(entry.getKey)) {
        over -= entry.getValue.bytes
        eldest.remove()
        forget(entry.getKey)
      }
    }
  }
}

package org.apache.spark.sql.zorder.skip.scan

import java.lang.ref.SoftReference
import java.util.concurrent.ConcurrentHashMap

import scala.util.control.NonFatal

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Path

import org.apache.spark.internal.Logging
import org.apache.spark.sql.zorder.skip.index.{IndexStore, StatisticsIndex}

/**
 * The indexes that this JVM has loaded. Whether there is a newer one is asked again after a few seconds; an older one
 * does no harm meanwhile, since its entries are of files that have not changed. Memory that is short takes them away.
 */
object LoadedIndexes extends Logging {

  /** So long a look at the store counts. */
  private val FreshNanos = 5L * 1000 * 1000 * 1000

  final private class Loaded(
      val file: Option[(Int, Long)],
      val index: SoftReference[Option[StatisticsIndex]],
      val lookedAt: Long)
  private val loaded = new ConcurrentHashMap[Path, Loaded]()

  /** The index of the table at `root`; None without a whole one. Never fails. */
  def of(root: Path, conf: => Configuration): Option[StatisticsIndex] =
    try {
      val known = Option(loaded.get(root))
      val cached = known.flatMap(l => Option(l.index.get))
      if (cached.isDefined && System.nanoTime() - known.get.lookedAt < FreshNanos) cached.get
      else {
        val store = new IndexStore(root.getFileSystem(conf), root)
        val file = store.newestFile()
        val index =
          if (cached.isDefined && known.get.file == file) cached.get
          else if (file.isEmpty) None
          else store.newest().map(_._2)
        loaded.put(root, new Loaded(file, new SoftReference(index), System.nanoTime()))
        index
      }
    } catch {
      case NonFatal(e) =>
        logWarning(s"The statistics index of $root cannot be read: no files are skipped", e)
        None
    }

  /** After a statement of this JVM has changed the index. */
  def forget(root: Path): Unit = {
    val _ = loaded.remove(root)
  }
}

package org.apache.spark.sql.zorder.table.delta

import java.io.IOException
import java.util.{Iterator => JIterator}
import java.util.concurrent.ConcurrentLinkedQueue

import io.delta.storage.{CloseableIterator, HDFSLogStore}
import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileStatus, Path}

/** Delta's own log store, whose next commit fails before or after its file was written. */
class FaultyLogStore(conf: Configuration) extends HDFSLogStore(conf) {

  override def write(
      path: Path,
      actions: JIterator[String],
      overwrite: java.lang.Boolean,
      hadoopConf: Configuration): Unit = {
    val when = if (path.getName.endsWith(".json")) FaultyLogStore.next else None
    if (when.nonEmpty) FaultyLogStore.next = None
    if (when.contains("gone")) FaultyLogStore.gone = true
    if (when.exists(_ != "after")) throw new IOException("Injected: the log is not to be written")
    super.write(path, actions, overwrite, hadoopConf)
    if (when.contains("after")) throw new IOException("Injected: no answer")
  }

  override def read(path: Path, hadoopConf: Configuration): CloseableIterator[String] = {
    FaultyLogStore.read.add(path.getName)
    super.read(path, hadoopConf)
  }

  override def listFrom(path: Path, hadoopConf: Configuration): JIterator[FileStatus] = {
    if (FaultyLogStore.gone) throw new IOException("Injected: the log is not to be listed")
    super.listFrom(path, hadoopConf)
  }
}

object FaultyLogStore {

  /** `before` or `after`; `gone` is before, and the log cannot be listed from then on. */
  @volatile var next: Option[String] = None

  @volatile var gone: Boolean = false

  /** Names of the files that were read. */
  val read = new ConcurrentLinkedQueue[String]
}

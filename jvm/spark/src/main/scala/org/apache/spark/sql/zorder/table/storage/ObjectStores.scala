package org.apache.spark.sql.zorder.table.storage

import java.util.Locale

import org.apache.hadoop.fs.FileSystem
import org.apache.spark.sql.zorder.conf.SessionKeys
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** File systems where a directory cannot be renamed in one step. */
private[zorder] object ObjectStores {

  private val schemes = Set(
    "s3",
    "s3a",
    "s3n",
    "gs",
    "gcs",
    "abfs",
    "abfss",
    "wasb",
    "wasbs",
    "adl",
    "oss",
    "oci",
    "cos",
    "cosn",
    "obs",
    "ks3",
    "tos",
    "swift",
    "r2",
    "bos",
    "ufile",
    "wasabi",
    "dbfs")

  /** Those that are known to show a file when it is closed, and what it replaces until then. */
  private val whole = Set("s3", "s3a", "s3n", "gs", "oss", "cosn")

  def isOne(scheme: String): Boolean = scheme != null && schemes(scheme.toLowerCase(Locale.ROOT))

  /** Whether a store may show an empty file, in place of the one of before, until the new one is closed: as Azure's do. */
  def showsUnfinished(scheme: String): Boolean = isOne(scheme) && !whole(scheme.toLowerCase(Locale.ROOT))
}

/**
 * File systems where a directory is renamed in one step, so that it can take the place of another one. All others are
 * treated as object stores: a list of what is known to work is safe where a list of what is not would be incomplete.
 */
private[zorder] object AtomicRenames {

  private val tested = Set("file", "hdfs", "viewfs")

  def on(session: ClassicSession, fs: FileSystem): Boolean = onScheme(session, fs.getUri.getScheme)

  def onScheme(session: ClassicSession, scheme: String): Boolean = scheme != null && {
    val wanted = scheme.toLowerCase(Locale.ROOT)
    tested(wanted) || SessionKeys.AtomicRenames.orDefault(session.sessionState.conf).split(',')
      .exists(_.trim.toLowerCase(Locale.ROOT) == wanted)
  }
}

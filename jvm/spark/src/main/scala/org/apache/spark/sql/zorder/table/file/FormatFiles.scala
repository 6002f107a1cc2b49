package org.apache.spark.sql.zorder.table.file

import java.io.Closeable

/**
 * Reads files by means of a table format, where Hadoop's file systems do not reach them. Tasks get a copy with the
 * files that they read. Two that are equal reach the same files.
 */
private[zorder] trait FormatFiles extends Serializable {

  /**
   * @param length
   *   of the file, as its format has told
   * @throws java.io.IOException
   *   also where the format has errors of its own for a storage
   */
  def open(path: String, length: Long): FileBytes

  /** Frees what a task's copy holds; the original stays open. */
  def release(): Unit
}

/** The bytes of one file. */
private[zorder] trait FileBytes extends Closeable {

  /** Fills `into` with the bytes from `at` on. */
  def readFully(at: Long, into: Array[Byte]): Unit

  /** Reads up to `most` bytes from `at` on, as an `InputStream` does. */
  def read(at: Long, into: Array[Byte], offset: Int, most: Int): Int
}

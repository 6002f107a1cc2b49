package org.apache.spark.sql.zorder.table

import org.apache.commons.codec.digest.DigestUtils
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{DataFile, InputRelation, PinnedPartition}

/**
 * What an index of ours needs to know of a table whose format keeps its own list of files. Its data files never change,
 * so that what the index has of a file is true in every snapshot that has the file.
 */
trait FormatIndexing {

  /** The columns that can be indexed: those whose values are in the files and nowhere else. */
  def schema: StructType

  /**
   * What files have under the name of a top-level column, by the columns' names. A column that is renamed, or dropped
   * and added again, has another text than the one that had its name before.
   */
  def identities: Map[String, String]

  /**
   * Tells a file from an earlier one of its path and length, which another program may have brought in; 0 in a format
   * that uses no path twice.
   */
  def generation(file: DataFile): Long = 0L

  /** All rows of files. Those that deletes have taken away may be in another snapshot. */
  def rows(session: ClassicSession, partitions: IndexedSeq[PinnedPartition]): InputRelation
}

private[zorder] object FormatIndexing {

  /** Longer texts are told apart by a hash of them. */
  private val Longest = 200

  /** An identity as an index keeps it. */
  def identity(text: String): String = if (text.length <= Longest) text else DigestUtils.sha256Hex(text)
}

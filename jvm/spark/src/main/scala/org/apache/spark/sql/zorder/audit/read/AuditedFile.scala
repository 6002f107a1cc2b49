package org.apache.spark.sql.zorder.audit.read

import org.apache.spark.sql.zorder.stats.FilePages
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.{Block, BytesWord, Word, Zone}

/**
 * What is known of one file.
 *
 * @param whole
 *   its rows, and a zone per audited column
 * @param rowGroups
 *   None where only the statistics index was asked
 * @param pages
 *   of a file of the sample
 */
final private[audit] case class AuditedFile(
    file: DataFile,
    whole: Block,
    rowGroups: Option[IndexedSeq[Block]],
    pages: Option[FilePages]) {

  def lacksStatistics: Boolean = whole.zones.contains(Zone.Unknown)

  /** Whether a bound is so long that page indexes cut it. */
  def hasLongBounds: Boolean = whole.zones.exists {
    case Zone.Between(min, max) => AuditedFile.isLong(min) || AuditedFile.isLong(max)
    case _ => false
  }
}

private[audit] object AuditedFile {
  private val PageBytes = 64

  private def isLong(word: Word): Boolean = word match {
    case BytesWord(bytes) => bytes.length >= PageBytes
    case _ => false
  }
}

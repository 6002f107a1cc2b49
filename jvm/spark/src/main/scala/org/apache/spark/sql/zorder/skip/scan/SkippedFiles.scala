package org.apache.spark.sql.zorder.skip.scan

import java.util.BitSet

import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.apache.spark.sql.zorder.skip.index.NoEntry

/** Decides file by file of a listing, and counts. A file without an entry of its own is always read. */
final private[scan] class SkippedFiles(
    entryOf: FileStatusWithMetadata => Either[NoEntry, Int],
    matching: BitSet) {
  private var consideredSoFar, prunedSoFar, unknownSoFar, bytesConsidered, bytesPruned = 0L

  def considered: Long = consideredSoFar
  def pruned: Long = prunedSoFar

  def bytes: ScanBytes = ScanBytes(bytesConsidered, bytesPruned)

  /** Files that are new, changed or too fresh to trust their entries. */
  def unknown: Long = unknownSoFar

  def keep(file: FileStatusWithMetadata): Boolean = {
    consideredSoFar += 1
    bytesConsidered += file.getLen
    val entry = entryOf(file)
    if (entry.isLeft) unknownSoFar += 1
    val kept = entry.forall(matching.get(_))
    if (!kept) {
      prunedSoFar += 1
      bytesPruned += file.getLen
    }
    kept
  }
}

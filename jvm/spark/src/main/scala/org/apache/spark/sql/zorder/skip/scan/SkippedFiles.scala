package org.apache.spark.sql.zorder.skip.scan

import java.util.BitSet

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.execution.datasources.FileStatusWithMetadata
import org.apache.spark.sql.zorder.skip.index.{FileKeys, IndexedFiles}

/** Decides file by file of a listing, and counts. A file without an entry of its own is always read. */
final class SkippedFiles(files: IndexedFiles, root: Path, matching: BitSet) {
  private val keys = new FileKeys(root)
  private var consideredSoFar, prunedSoFar, unknownSoFar, bytesConsidered, bytesPruned = 0L

  def considered: Long = consideredSoFar
  def pruned: Long = prunedSoFar

  def bytes: ScanBytes = ScanBytes(bytesConsidered, bytesPruned)

  /** Files that are new, changed or too fresh to trust their entries. */
  def unknown: Long = unknownSoFar

  def keep(file: FileStatusWithMetadata): Boolean = {
    consideredSoFar += 1
    bytesConsidered += file.getLen
    val number = files.find(keys.of(file.getPath), file.getLen, file.getModificationTime)
    if (number < 0) unknownSoFar += 1
    val kept = number < 0 || matching.get(number)
    if (!kept) {
      prunedSoFar += 1
      bytesPruned += file.getLen
    }
    kept
  }
}

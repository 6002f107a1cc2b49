package org.apache.spark.sql.zorder.skipping.scan

import org.apache.spark.sql.catalyst.expressions.Expression
import org.apache.spark.sql.zorder.table.file.DataFile

/** The file index of a format of Spark's file source, with the list that we narrow. */
trait NarrowedFileIndex extends PruningFileIndex {

  /** What narrows the files that the format plans. */
  def list: NarrowedList

  /**
   * The files that the format itself plans for these filters, before we leave out any.
   *
   * @return
   *   path, length and modification time as in [[FileBounds]], by which [[list]] finds their bounds
   */
  def planned(partitionFilters: Seq[Expression], dataFilters: Seq[Expression]): Seq[DataFile]
}

/**
 * What became of a scan of DataSource V2.
 *
 * @param planned
 *   files that the format itself has planned
 * @param kept
 *   those that the scan reads
 * @param by
 *   the filters that the others were left out by, as text; empty if nothing was narrowed
 */
final case class NarrowedCounts(planned: Long, kept: Long, by: Seq[String])

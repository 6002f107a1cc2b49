package org.apache.spark.sql.zorder.run.inspect

import org.apache.spark.sql.zorder.fit.Levels
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, FilePages, PageIndex}
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.Block

/** The blocks of the files as they are now, from the footers that a run has read and from their page indexes. */
final private[run] class PresentLevels(session: ClassicSession, input: Inspection, tracked: TrackedColumns) {
  private lazy val footers: Map[String, FileFooter] = input.footers.map(f => f.file.path -> f).toMap

  /** Read once for all calls. */
  private lazy val pages: Seq[FilePages] =
    PageIndex.ofSome(session, input.footers.map(_.file), tracked.statColumns)

  def of(files: Seq[DataFile]): Levels =
    if (files.isEmpty) Levels(Nil, Nil, Nil)
    else {
      val paths = files.map(_.path).toSet
      levels(files, pages.filter(p => paths(p.file.path)))
    }

  /** Only the files: no page index is read. */
  def files(files: Seq[DataFile]): Seq[Block] = levels(files, Nil).files

  def rows(files: Seq[DataFile]): Long = files.map(f => footers(f.path).rows).sum

  private def levels(files: Seq[DataFile], pages: Seq[FilePages]): Levels =
    tracked.levels(files.map(f => footers(f.path)), input.statistics.columns, pages)
}

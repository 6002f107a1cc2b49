package org.apache.spark.sql.zorder.run.select

import org.apache.spark.sql.zorder.audit.measure.{AvoidableReads, Spacing}
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, StatColumn}
import sparkzorder.curve.{Block, Zone}

/**
 * Of the files of a selection the few that cause most of what look-ups read in vain, partition by partition, by the
 * same count as the audit's `avoidable_files`.
 *
 * @param session
 *   the pinned one: footers are read in it
 * @param statistics
 *   what is read of footers, the clustering columns first
 * @param columns
 *   number of the clustering columns
 */
final private[run] class WorstFiles(session: ClassicSession, statistics: Seq[StatColumn], columns: Int) {
  private val spacings = statistics.take(columns).map(c => Spacing.of(c.dataType)).toIndexedSeq

  /** @param share the part of these reads that the files have to cause */
  def of(selected: Selection, share: Double): Selection = {
    val footers = selected.footers.getOrElse(Footers.read(session, selected.files, statistics))
    val worst = footers.groupBy(_.file.partition).toSeq.sortBy(_._1).flatMap { case (_, own) =>
      ofPartition(own.sortBy(_.file.path).toIndexedSeq, share)
    }
    val paths = worst.map(_.file.path).toSet
    selected.without(selected.files.filterNot(f => paths(f.path)))
      .copy(footers = Some(footers.filter(f => paths(f.file.path))), worst = true)
  }

  private def ofPartition(all: IndexedSeq[FileFooter], share: Double): Seq[FileFooter] = {
    // as in an audit, files without rows are not there
    val files = all.filter(f => f.rows > 0 || f.opaque)
    if (files.length < 2) Nil
    else AvoidableReads.of(files.map(block), files.map(_.file.path), spacings).worst(share).map(files)
  }

  private def block(f: FileFooter): Block =
    if (f.opaque) Block(f.rows, IndexedSeq.fill(columns)(Zone.Unknown)) else f.block(columns)
}

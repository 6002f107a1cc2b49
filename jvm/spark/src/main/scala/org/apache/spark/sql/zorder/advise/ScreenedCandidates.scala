package org.apache.spark.sql.zorder.advise

import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.run.inspect.{Inspection, RunStatistics}
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.run.select.Selection
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.stats.{FileFooter, Footers, StatColumn}
import org.apache.spark.sql.zorder.table.ClusterTable
import org.apache.spark.sql.zorder.table.file.DataFile
import sparkzorder.curve.Zone

/**
 * The candidate columns that have useful statistics, by the footers.
 *
 * @param input
 *   its statistics are those of the kept columns
 * @param passedOver
 *   columns without statistics or with a single value
 */
final private[advise] case class ScreenedCandidates(
    input: Inspection,
    columns: Seq[ClusterColumn],
    statColumns: Seq[StatColumn],
    passedOver: Seq[String])

private[advise] object ScreenedCandidates {

  /**
   * @param session
   *   the pinned one
   * @throws org.apache.spark.sql.zorder.errors.ZOrderException
   *   the sentence with which a run would refuse these files
   */
  def apply(
      session: ClassicSession,
      table: ClusterTable,
      files: Seq[DataFile],
      candidates: Seq[ClusterColumn],
      options: RunOptions): ScreenedCandidates = {
    val stats = RunStatistics.ofClustering(table.schema, candidates).columns
    val footers = Footers.read(session, files, stats)
    val useful = candidates.indices.filter(c => tellsApart(footers.map(_.zone(c))))
    val columns = useful.map(candidates(_))
    val narrowed = footers.map(keep(_, useful))
    val input =
      Inspection(
        session,
        table,
        Selection(files, Nil, Some(narrowed)),
        RunStatistics.ofClustering(table.schema, columns),
        options)
    if (input.isEmpty) refuse(s"${table.name} has no rows: write some into it first.")
    ScreenedCandidates(input, columns, useful.map(stats(_)), candidates.diff(columns).map(_.sql))
  }

  /** Some file is known to hold other values than another, or more than one itself. */
  private def tellsApart(zones: Seq[Zone]): Boolean = {
    val known = zones.collect { case z: Zone.Between => z }
    known.exists(z => z.min != z.max) || known.distinct.size > 1
  }

  private def keep(footer: FileFooter, columns: Seq[Int]): FileFooter =
    footer.copy(rowGroups = footer.rowGroups.map { g =>
      g.copy(
        zones = columns.map(g.zones(_)).toIndexedSeq,
        nullFree = columns.indices.filter(i => g.nullFree(columns(i))).toSet)
    })
}

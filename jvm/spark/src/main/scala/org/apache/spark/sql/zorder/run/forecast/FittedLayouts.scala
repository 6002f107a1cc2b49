package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts}
import org.apache.spark.sql.zorder.fit.{Choice, Fit, Sample}
import org.apache.spark.sql.zorder.run.plan.FilePlan
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.table.file.PinnedPartition
import sparkzorder.curve.cost.Query

/**
 * The layouts of a run, one a partition in the plan's order, and the sampled rows: those that they were fitted
 * on and those that they were not. The columns of the rows are those of the layout, then those that are watched.
 *
 * @param first
 *   how the layout of the first partition was chosen
 */
final case class FittedLayouts(
    routes: PartitionLayouts,
    fitting: IndexedSeq[Sample],
    heldOut: IndexedSeq[Sample],
    first: Choice) {
  def layouts: IndexedSeq[LayoutRef] = routes.refs

  /** The builders of the layouts, each once. */
  def curves: String = layouts.map(_.layout.curve).distinct.mkString(", ")

  def summary: String = {
    val columns = layouts.head.layout.columns.map(_.sql).mkString(", ")
    val which = if (layouts.length == 1) s"layout ${layouts.head.id}" else s"${layouts.length} layouts"
    s"$curves on ($columns), ${HumanReadable.count(routes.files.toLong, "file")}, " +
      s"${layouts.head.layout.inFile.name} inside files, $which"
  }
}

object FittedLayouts {

  /**
   * @param pageRows
   *   rows of a full page
   * @param queries
   *   makes the log's queries from sampled rows, over the columns of these
   */
  def apply(
      sampled: Sampled,
      columns: Seq[ClusterColumn],
      plan: FilePlan,
      rows: PinnedPartition => Long,
      curve: String,
      pageRows: Int,
      queries: Sample => Seq[Query]): FittedLayouts = {
    val places = columns.indices
    val halves = sampled.partitions.map(_.halves)
    val choices: IndexedSeq[Choice] = halves.zip(plan.partitions).map { case ((fitting, _), sized) =>
      val pages = rows(sized.partition).toDouble / sized.files / pageRows
      val asked = queries(fitting).map(_.over(places))
      Fit.choose(fitting.select(places), columns.map(_.fit), sized.files, curve, asked, math.max(1.0, pages))
    }
    FittedLayouts(
      PartitionLayouts(choices.map(c => Fit.ref(c.layout))),
      halves.map(_._1),
      halves.map(_._2),
      choices.head)
  }
}

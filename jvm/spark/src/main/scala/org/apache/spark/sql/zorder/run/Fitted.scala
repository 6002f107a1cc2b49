package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.{LayoutRef, Routes}
import org.apache.spark.sql.zorder.fit.{Choice, Fit, Sample}
import sparkzorder.curve.build.Candidate

/**
 * The layouts of a run, one a partition, and the sampled rows that they were not fitted on.
 *
 * @param heldOut
 *   per partition, in the plan's order
 * @param candidates
 *   what the layout of the first partition was compared with
 */
final case class Fitted(
    routes: Routes,
    heldOut: IndexedSeq[Sample],
    candidates: IndexedSeq[Candidate]) {
  def layouts: IndexedSeq[LayoutRef] = routes.refs

  /** The builders of the layouts, each once. */
  def curves: String = layouts.map(_.layout.curve).distinct.mkString(", ")

  def said: String = {
    val columns = layouts.head.layout.columns.map(_.sql).mkString(", ")
    val which = if (layouts.length == 1) s"layout ${layouts.head.id}" else s"${layouts.length} layouts"
    s"$curves on ($columns), ${Said.count(routes.files.toLong, "file")}, " +
      s"${layouts.head.layout.inFile.name} inside files, $which"
  }
}

object Fitted {

  /** @param pageRows rows of a full page */
  def apply(
      sampled: Sampled,
      columns: Seq[ClusterColumn],
      plan: FilePlan,
      rows: PinnedPartition => Long,
      curve: String,
      pageRows: Int): Fitted = {
    val halves = sampled.partitions.map(_.halves)
    val choices: IndexedSeq[Choice] = halves.zip(plan.partitions).map { case ((fitting, _), sized) =>
      val pages = rows(sized.partition).toDouble / sized.files / pageRows
      Fit.choose(fitting, columns.map(_.fit), sized.files, curve, Nil, math.max(1.0, pages))
    }
    Fitted(
      Routes(choices.map(c => Fit.ref(c.layout))),
      halves.map(_._2),
      choices.headOption.fold(IndexedSeq.empty[Candidate])(_.candidates))
  }
}

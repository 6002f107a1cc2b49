package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.{LayoutRef, Routes}
import org.apache.spark.sql.zorder.fit.{Fit, Sample}
import sparkzorder.curve.build.LayoutBuilder

/**
 * The layouts of a run, one a partition, and the sampled rows that they were not fitted on.
 *
 * @param heldOut
 *   per partition, in the plan's order
 */
final case class Fitted(routes: Routes, heldOut: IndexedSeq[Sample], curve: String) {
  def layouts: IndexedSeq[LayoutRef] = routes.refs

  def said: String = {
    val columns = layouts.head.layout.columns.map(_.sql).mkString(", ")
    val which = if (layouts.length == 1) s"layout ${layouts.head.id}" else s"${layouts.length} layouts"
    s"$curve on ($columns), ${Said.count(routes.files.toLong, "file")}, " +
      s"${layouts.head.layout.inFile.name} inside files, $which"
  }
}

object Fitted {
  def apply(sampled: Sampled, columns: Seq[ClusterColumn], plan: FilePlan, builder: LayoutBuilder): Fitted = {
    val halves = sampled.partitions.map(_.halves)
    val layouts = halves.zip(plan.partitions).map { case ((fitting, _), sized) =>
      Fit.ref(Fit.layout(fitting, columns.map(_.fit), sized.files, builder))
    }
    Fitted(Routes(layouts), halves.map(_._2), builder.name)
  }
}

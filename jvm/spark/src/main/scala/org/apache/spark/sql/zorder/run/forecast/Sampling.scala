package org.apache.spark.sql.zorder.run.forecast

import org.apache.spark.sql.catalyst.expressions.{Alias, NamedExpression}
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.functions.expr
import org.apache.spark.sql.zorder.fit.{Sample, Sampler}
import org.apache.spark.sql.zorder.run.plan.FilePlan
import org.apache.spark.sql.zorder.run.report.HumanReadable
import org.apache.spark.sql.zorder.run.request.ClusterColumn
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.InputRelation

/** The sampled rows of every partition, in the plan's order. */
final case class Sampled(partitions: IndexedSeq[Sample], share: Double) {
  def rows: Int = partitions.map(_.rows).sum
  def summary: String = s"${HumanReadable.count(rows.toLong, "row")} (share ${HumanReadable.share(share)})"
}

/** The one pruned job: clustering and watched columns only, rows by a hash of their place in their file. */
object Sampling {

  /** Sampled rows a file: the mass of a file is then known to about 3 % (one half of them fits the layout). */
  private val RowsPerFile = 2000L
  private val AtLeast = 200000L
  private val AtMost = 4000000L

  /** The most sampled values that the driver holds. */
  private val MostValues = 16000000L
  private val Buckets = 1 << 20

  def apply(
      session: ClassicSession,
      source: InputRelation,
      columns: Seq[ClusterColumn],
      plan: FilePlan,
      rows: Long): Sampled = {
    val most = math.min(AtMost, MostValues / math.max(1, columns.length))
    val wanted = math.min(most, math.max(AtLeast, plan.outputFiles * RowsPerFile))
    about(wanted, session, source, columns, plan, rows)
  }

  /**
   * @param wanted
   *   number of rows
   * @param rows
   *   of the planned partitions
   */
  def about(
      wanted: Long,
      session: ClassicSession,
      source: InputRelation,
      columns: Seq[ClusterColumn],
      plan: FilePlan,
      rows: Long): Sampled = {
    val share = math.min(1.0, wanted.toDouble / rows)
    // by the place and not by the value, so that frequent values stay frequent in the sample
    val place = s"pmod(xxhash64(${source.place.mkString(", ")}), $Buckets) < ${(share * Buckets).toInt}"
    val all = Shims.ofRows(session, source.plan)
    val byColumns = share < 1.0 && source.place.nonEmpty
    val chosen = (if (byColumns) all.where(expr(place)) else all).queryExecution.analyzed
    val list: Seq[NamedExpression] =
      columns.zipWithIndex.map { case (c, i) => Alias(c.expression, s"c$i")() } :+ source.route
    val pruned = Shims.ofRows(session, Project(list, chosen))
    val keep = if (share < 1.0 && !byColumns) Sampler.byPlace(share) else (_: Int, _: Long) => true
    Sampled(Sampler.collect(pruned, plan.partitions.length, keep), share)
  }
}

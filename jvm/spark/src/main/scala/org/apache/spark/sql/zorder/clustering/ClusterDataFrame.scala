package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.expressions.Alias
import org.apache.spark.sql.catalyst.plans.logical.Project
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.expr.layout.{LayoutRef, PartitionLayouts}
import org.apache.spark.sql.zorder.clustering.fit.{Fit, LayoutJson, SampleBound, Sampler}
import org.apache.spark.sql.zorder.clustering.forecast.Sampling
import org.apache.spark.sql.zorder.clustering.plan.OutputPlan
import org.apache.spark.sql.zorder.clustering.request.{ClusterColumn, ColumnResolver}
import org.apache.spark.sql.zorder.clustering.rewrite.RewriteQuery
import org.apache.spark.sql.zorder.shims.Shims
import sparkzorder.curve.build.CurveRegistry

/** Clustering on the first write: a layout fitted on any DataFrame, and its rows in that layout. */
object ClusterDataFrame {
  private val Wanted = SampleBound(400000, Sampling.MostBytes)
  private val AtLeastPerTask = SampleBound(2000, 1L << 20)

  /** What tasks may send to the driver in all. */
  private val MostSent = SampleBound(4000000, 2 * Sampling.MostBytes)

  /** The pages that the caller's writer will make are unknown; a file of 256 MiB has some hundred. */
  private val PagesPerFile = 64.0

  /**
   * Arranges the rows by a layout that it fits: partition p holds the rows of file p, in order.
   *
   * @param files
   *   number of partitions, so of files that `write` makes
   * @return
   *   runs one pruned sampling job at once, or two where few tasks have most of the rows; the rest is lazy
   */
  def cluster(df: DataFrame, by: Seq[String], files: Int): DataFrame = {
    val columns = resolve(df, by)
    // without rows there is nothing to order: one partition, so that `write` makes one file with the schema
    fitted(df, columns, files).fold(df.coalesce(1))(arranged(df, columns, _))
  }

  private def arranged(df: DataFrame, columns: Seq[ClusterColumn], ref: LayoutRef): DataFrame = {
    val plan = df.queryExecution.analyzed
    val layouts = PartitionLayouts.one(ref)
    Shims.ofRows(
      Shims.classic(df.sparkSession),
      RewriteQuery.plan(
        plan,
        plan.output,
        Nil,
        columns.map(_.expression),
        None,
        layouts,
        OutputPlan.each(layouts.files)))
  }

  /** The layout's JSON. */
  def fit(df: DataFrame, by: Seq[String], files: Int): String =
    LayoutJson.write(fitted(df, resolve(df, by), files).getOrElse(
      refuse("ZORDER_INVALID_ARGUMENT.NO_ROWS")).layout)

  private def resolve(df: DataFrame, by: Seq[String]): Seq[ClusterColumn] = {
    if (by.isEmpty) refuse("ZORDER_INVALID_COLUMNS.NONE_NAMED")
    ColumnResolver.on(
      Shims.classic(df.sparkSession),
      "The DataFrame",
      df.queryExecution.analyzed,
      Nil,
      by)
  }

  /** A task's part of what is wanted, or more where tasks may send that. */
  private def ofTask(tasks: Int): SampleBound = {
    def part(of: SampleBound => Long): Long =
      math.max(of(Wanted) / tasks, math.min(of(AtLeastPerTask), of(MostSent) / tasks))
    SampleBound(math.max(1, part(_.rows.toLong).toInt), part(_.bytes))
  }

  /** None if there are no rows. */
  private def fitted(df: DataFrame, columns: Seq[ClusterColumn], files: Int): Option[LayoutRef] = {
    if (files < 1) refuse("ZORDER_INVALID_ARGUMENT.FILES", "count" -> files)
    val session = Shims.classic(df.sparkSession)
    val list = columns.zipWithIndex.map { case (c, i) => Alias(c.expression, s"c$i")() }
    val pruned = Shims.ofRows(session, Project(list, df.queryExecution.analyzed))
    // the plan that the sample runs: `rdd` has one of its own, whose shuffles would run only to be counted
    val tasks = math.max(1, pruned.queryExecution.toRdd.getNumPartitions)
    val sample = Sampler.collectBounded(pruned, ofTask(tasks), Wanted)
    if (sample.rows == 0) None
    else
      Some(Fit.ref(Fit.choose(
        sample,
        columns.map(_.fit),
        files,
        CurveRegistry.Auto.name,
        Nil,
        PagesPerFile).layout))
  }
}

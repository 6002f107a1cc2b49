package org.apache.spark.sql.zorder.run.plan

import org.apache.spark.sql.DataFrame
import org.apache.spark.sql.catalyst.plans.logical.{Join, LogicalPlan}
import org.apache.spark.sql.zorder.conf.RunOptions
import org.apache.spark.sql.zorder.shims.Shims

/** How many files a DataFrame becomes by default: as many as a run would make of a table of its size. */
private[zorder] object DataFrameFiles {

  def of(df: DataFrame): Int = {
    val session = Shims.classic(df.sparkSession)
    val conf = session.sessionState.conf
    val options = RunOptions.merge(Map.empty, Map.empty, session.conf.getAll)
    val files = bytes(df.queryExecution.optimizedPlan, conf.defaultSizeInBytes)
      .map(n => FileCount.of(n, FileCount.target(n, options.targetFileSize), options))
    options.fileCount.orElse(files).getOrElse(conf.numShufflePartitions)
  }

  /**
   * The size by Spark's plan; None if an input has none, such as rows of an RDD. For a join Spark estimates the
   * product of both sides, which is far too large: the sum of its inputs is closer.
   */
  private[run] def bytes(plan: LogicalPlan, unknown: Long): Option[Long] = {
    val inputs = plan.collectLeaves().map(_.stats.sizeInBytes)
    val whole = if (plan.exists(_.isInstanceOf[Join])) inputs.sum else plan.stats.sizeInBytes
    Some(whole).filter(n => inputs.forall(_ < unknown) && n < unknown).map(_.toLong)
  }
}

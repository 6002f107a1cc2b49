package org.apache.spark.sql.zorder.clustering

import org.apache.spark.sql.zorder.clustering.rewrite.RewritePlan

/** What a planner has found to do in a batch. */
sealed private[clustering] trait Planned

private[clustering] object Planned {

  /** Nothing is rewritten: there is nothing to do, it would gain too little, or it is a dry run. */
  final case class Ended(result: BatchResult) extends Planned

  /** Files are rewritten, or those of a first step if the batch has a partition underway. */
  final case class Rewrite(plan: RewritePlan, batch: Batch) extends Planned

  /**
   * A rewrite as a dry run shows it, or as it is carried out.
   *
   * @param batch
   *   what it does for the statement if it is one commit
   * @param inSteps
   *   what it does if it begins the steps of a partition
   * @param text
   *   the reason of the dry run, or what ends the reason of the run
   * @param limit
   *   why the run would end before its last batch
   */
  def settled(
      dryRun: Boolean,
      plan: RewritePlan,
      batch: Batch,
      inSteps: Option[Batch],
      text: String,
      limit: => Option[String]): Planned =
    if (dryRun) Ended(BatchResult(plan.planned.dryRun(limit, text), batch))
    else Rewrite(plan.copy(remarks = text.stripPrefix(" ")), inSteps.getOrElse(batch))
}

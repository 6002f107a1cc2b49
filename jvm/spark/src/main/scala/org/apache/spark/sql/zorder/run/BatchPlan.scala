package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.run.plan.{GrowthPlan, PlacedPartition}
import org.apache.spark.sql.zorder.run.rewrite.RewritePlan
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * What a batch is going to do, and what its result says about it. `NewLayoutPlanner` and `IncrementPlanner` make
 * it, `BatchRun` carries it out.
 *
 * @param filesConsidered
 *   all files that the statement looked at
 * @param batch
 *   what is finished and what is left after a rewrite in one commit
 * @param steps
 *   the partition to cluster in several commits, if the files are too many for one
 * @param limit
 *   why the run would end before its last batch; for a dry run
 * @param dryRunText
 *   what the run would do
 * @param reason
 *   the reason of the result; with a rewrite in one commit it follows the files that were read and written
 * @param idle
 *   partitions whose new files have no rows: they are finished, whatever becomes of the others
 */
final private[run] case class BatchPlan(
    rewrite: RewritePlan,
    filesConsidered: Int,
    batch: Batch,
    steps: Option[StepStart],
    limit: Option[String],
    dryRunText: String,
    reason: String,
    idle: Set[String] = Set.empty)

/**
 * A partition whose rows are moved in steps.
 *
 * @param moving
 *   files whose rows are to be moved
 * @param growth
 *   how these rows come to files that are in place already
 */
final private[run] case class StepStart(
    placed: PlacedPartition,
    ref: LayoutRef,
    moving: Seq[DataFile],
    growth: GrowthPlan)

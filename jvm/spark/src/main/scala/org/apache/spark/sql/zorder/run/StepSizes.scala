package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.expr.layout.LayoutRef
import org.apache.spark.sql.zorder.run.plan.{FilePlan, PlacedPartition, SizedPartition}
import org.apache.spark.sql.zorder.run.report.{HumanReadable, RunCost}
import org.apache.spark.sql.zorder.run.request.RunContext
import org.apache.spark.sql.zorder.run.select.Selection

/** Which partitions are too large for one batch, how large their steps are, and what these cost. */
final private[run] class StepSizes(context: RunContext, batches: Batches) {
  import context.{request, table}

  /** Steps change a part of a partition alone, which not every format can commit. A copy is one commit. */
  private val possible = table.commitsParts && request.into.isEmpty

  /** Bytes of a step; None for a partition that is one batch. */
  private def stepBytes(sized: SizedPartition): Option[Long] =
    if (possible) batches.step(sized.partition.bytes, sized.files) else None

  /** The most bytes of a step of a partition whose layout is known. */
  def stepBytes(placed: PlacedPartition, ref: LayoutRef): Long =
    batches.step(placed.all.map(_.length).sum, ref.layout.files).getOrElse(Long.MaxValue)

  /**
   * Whether the files of the plan's only partition have to be replaced in steps. This is never so if the statement
   * leaves out files of the partition.
   *
   * @param files
   *   to write
   */
  def needsSteps(plan: FilePlan, files: Int, selected: Selection): Boolean =
    plan.partitions.length == 1 && {
      val partition = plan.partitions.head.partition
      stepBytes(SizedPartition(partition, files)).isDefined &&
      selected.kept.forall(_.partition != partition.directory)
    }

  private def large(plan: FilePlan): Seq[SizedPartition] = plan.partitions.filter(stepBytes(_).isDefined)

  /** The cost with the first pass of large partitions, which brings their regions together. */
  def withSteps(cost: RunCost, plan: FilePlan): RunCost = {
    val twice = large(plan).map(_.partition.bytes).sum
    val share = twice.toDouble / math.max(1L, plan.files.map(_.length).sum)
    cost.and(RunCost(
      twice,
      math.round(share * cost.bytesToShuffle),
      math.round(share * cost.localDiskBytes)))
  }

  /** Bytes that each step of a partition reads, in order; one number for a partition that is one batch. */
  def reads(sized: SizedPartition): Seq[Long] = {
    val bytes = sized.partition.bytes
    stepBytes(sized).fold(Seq(bytes))(step => Seq.fill(2 * ((bytes + step - 1) / step).toInt)(step))
  }

  /** What a dry run says about the steps; empty if the plan needs none. */
  def summary(plan: FilePlan): String = {
    val all = large(plan)
    if (all.isEmpty) ""
    else {
      val bytes = HumanReadable.bytes(all.map(_.partition.bytes).sum)
      val most = HumanReadable.bytes(all.flatMap(stepBytes(_)).max)
      s" In batches of at most $most: $bytes are read and written once more, to bring the regions of the layout " +
        "together."
    }
  }
}

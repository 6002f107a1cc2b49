package org.apache.spark.sql.zorder.table.hudi

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.execution.datasources.{HadoopFsRelation, LogicalRelation}
import org.apache.spark.sql.types.StructType
import org.apache.spark.sql.zorder.shims.ActiveSession
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.table.file.{InputRelation, PinnedPartition}
import org.apache.spark.sql.zorder.table.parquet.read.PinnedFileIndex

/** The rows of some base files as Hudi's own reader returns them, with Hudi's meta columns. */
private[hudi] object HudiRows {

  /** A row keeps it when a run moves the row, so that the same rows written again give the same sample. */
  private val Place = Seq("_hoodie_commit_seqno")

  def apply(
      session: ClassicSession,
      root: Path,
      partitions: IndexedSeq[PinnedPartition],
      dataSchema: StructType): InputRelation = ActiveSession.during(session) {
    val read = session.read.format("hudi").load(root.toString).queryExecution.analyzed
    val own = read.collectFirst { case LogicalRelation(fs: HadoopFsRelation, _, _, _) => fs }.get
    val zone = session.sessionState.conf.sessionLocalTimeZone
    val pinned = new PinnedFileIndex(root, partitions, new StructType(), zone)
    val relation = own.copy(
      location = pinned,
      partitionSchema = pinned.partitionSchema,
      dataSchema = dataSchema,
      bucketSpec = None)(session)
    val plan = LogicalRelation(relation)
    new InputRelation(
      plan,
      plan.output.take(dataSchema.length),
      Place,
      own = HudiClusterTable.MetaColumns.toSet)
  }

  /** The files that are read by a plan over such rows. */
  def files(plan: LogicalPlan): Seq[String] = plan.collectLeaves().flatMap {
    case LogicalRelation(HadoopFsRelation(files: PinnedFileIndex, _, _, _, _, _), _, _, _) =>
      files.inputFiles.toSeq
    case _ => Nil
  }
}

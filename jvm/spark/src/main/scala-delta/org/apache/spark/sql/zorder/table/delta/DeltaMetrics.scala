package org.apache.spark.sql.zorder.table.delta

import org.apache.spark.sql.delta.{DeltaLog, OptimisticTransaction}
import org.apache.spark.sql.delta.actions.AddFile
import org.apache.spark.sql.execution.metric.SQLMetrics
import org.apache.spark.sql.zorder.table.file.DataFile

/** The metrics of a run in `DESCRIBE HISTORY`, under Delta's names for an OPTIMIZE. */
private[delta] object DeltaMetrics {

  def register(
      txn: OptimisticTransaction,
      log: DeltaLog,
      added: Seq[AddFile],
      removed: Seq[DataFile]): Unit = {
    val session = org.apache.spark.sql.SparkSession.active
    val sizes = added.map(_.size).sorted.toIndexedSeq
    val values = Map(
      "numAddedFiles" -> added.length.toLong,
      "numRemovedFiles" -> removed.length.toLong,
      "numAddedBytes" -> sizes.sum,
      "numRemovedBytes" -> removed.map(_.length).sum,
      "numDeletionVectorsRemoved" -> removed.count(_.deleted.exists(_ > 0)).toLong,
      "minFileSize" -> sizes.headOption.getOrElse(0L),
      "p25FileSize" -> quantile(sizes, 0.25),
      "p50FileSize" -> quantile(sizes, 0.5),
      "p75FileSize" -> quantile(sizes, 0.75),
      "maxFileSize" -> sizes.lastOption.getOrElse(0L))
    txn.registerSQLMetrics(
      session,
      values.map { case (name, value) =>
        val metric = SQLMetrics.createMetric(session.sparkContext, name)
        metric.set(value)
        name -> metric
      })
  }

  private def quantile(sorted: IndexedSeq[Long], share: Double): Long =
    if (sorted.isEmpty) 0L else sorted(((sorted.length - 1) * share).toInt)
}

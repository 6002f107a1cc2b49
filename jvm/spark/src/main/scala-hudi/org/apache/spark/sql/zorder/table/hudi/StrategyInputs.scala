package org.apache.spark.sql.zorder.table.hudi

import java.util.concurrent.ConcurrentHashMap

import org.apache.hudi.client.WriteStatus
import org.apache.hudi.common.model.FileSlice

import org.apache.spark.rdd.RDD

/**
 * What a run hands to the strategies that Hudi instantiates by class name. It stays on this driver, under the id of
 * the run, which is in the settings of Hudi's client.
 */
private[hudi] object StrategyInputs {

  /** A setting of the client. */
  val RunId = "hoodie.zorder.run.id"

  private val inputs = new ConcurrentHashMap[String, Seq[FileSlice]]
  private val written = new ConcurrentHashMap[String, RDD[WriteStatus]]

  def plan(runId: String, slices: Seq[FileSlice]): Unit = {
    inputs.put(runId, slices)
    ()
  }

  /** The file slices that the run replaces. */
  def planned(runId: String): Seq[FileSlice] = found(inputs.get(runId), runId)

  def write(runId: String, statuses: RDD[WriteStatus]): Unit = {
    written.put(runId, statuses)
    ()
  }

  /** What Hudi commits: the status of each file that the run has written. */
  def statuses(runId: String): RDD[WriteStatus] = found(written.get(runId), runId)

  def forget(runId: String): Unit = {
    inputs.remove(runId)
    written.remove(runId)
    ()
  }

  private def found[A](value: A, runId: String): A =
    if (value == null)
      throw new IllegalStateException(s"The clustering run $runId is not in progress on this driver")
    else value
}

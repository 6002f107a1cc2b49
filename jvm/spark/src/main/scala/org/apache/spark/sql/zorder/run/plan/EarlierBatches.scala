package org.apache.spark.sql.zorder.run.plan

/** What the earlier batches of a statement have begun, as far as it decides what a later one may take. */
private[run] trait EarlierBatches {

  /** Paths of files whose rows are still to be moved by steps that have begun. */
  def waiting: Set[String]

  /** Partitions of which files that had lost many rows were written again. */
  def thinned: Set[String]
}

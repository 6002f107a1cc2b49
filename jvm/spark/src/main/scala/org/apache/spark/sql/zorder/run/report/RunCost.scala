package org.apache.spark.sql.zorder.run.report

/**
 * What a run will need, estimated before it starts.
 *
 * @param bytesToRead
 *   the files once, and the sampled columns once more; with `verify = 'checksum'` the files twice more
 * @param bytesToShuffle
 *   an estimate to within a factor of two: rows times the width of one in Spark's row format, less what LZ4
 *   saves on neighbouring rows, which are the bytes that the min and max of a column have in common. Nothing is
 *   subtracted if `spark.shuffle.compress` is off
 * @param localDiskBytes
 *   of all executors together: the shuffle files, and as much again for spills that are merged into them
 */
final case class RunCost(bytesToRead: Long = 0, bytesToShuffle: Long = 0, localDiskBytes: Long = 0) {

  /** Of two batches one after the other, whose shuffle files may both be there. */
  def and(later: RunCost): RunCost = RunCost(
    bytesToRead + later.bytesToRead,
    bytesToShuffle + later.bytesToShuffle,
    localDiskBytes + later.localDiskBytes)
}

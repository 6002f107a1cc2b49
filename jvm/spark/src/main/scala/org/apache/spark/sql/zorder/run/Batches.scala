package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.zorder.conf.RunOptions

/**
 * The commits of one statement. A batch is some whole partitions of the table; a statement that dies loses the
 * batch in flight, and the next one finds the others in place.
 *
 * @param done
 *   partitions of earlier batches
 */
final private[run] class Batches(options: RunOptions, startedMs: Long, done: Set[String] = Set.empty) {

  /**
   * The partitions of the next batch.
   *
   * @param partitions
   *   their names and bytes, in the order in which they are taken
   */
  def next(partitions: Seq[(String, Long)]): Batch = {
    val waiting = partitions.filterNot(p => done(p._1))
    val bytes = waiting.scanLeft(0L)(_ + _._2).tail
    // one partition cannot be cut, so a batch has at least one
    val fit = options.maxBytesInFlight.fold(waiting.length)(most => math.max(1, bytes.count(_ <= most)))
    Batch(waiting.take(fit).map(_._1).toSet, waiting.drop(fit).map(_._1))
  }

  def after(partitions: Set[String]): Batches = new Batches(options, startedMs, done ++ partitions)

  /** Why no further batch is begun; None while one may be. */
  def ended(so: RunReport): Option[String] =
    if (options.maxInputBytes.exists(so.metrics.inputBytes >= _)) Some("maxInputBytes is reached")
    else if (System.currentTimeMillis() - startedMs >= options.maxDurationMs) Some("maxDuration is over")
    else None
}

/** @param left partitions for later batches */
final private[run] case class Batch(partitions: Set[String], left: Seq[String])

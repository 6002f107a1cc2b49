package org.apache.spark.sql.zorder.table.storage

import org.apache.spark.util.ThreadUtils

/** What the driver asks of a storage by itself, several at a time: an object store takes some 20 ms for each answer. */
private[zorder] object DriverReads {

  /** Of a query: more requests at a time would crowd out others. */
  val MostRequests = 16

  /**
   * @param threads
   *   at most
   * @return
   *   in the order of `asked`; the first error in that order is thrown
   */
  def each[A, B](asked: Seq[A], threads: Int)(read: A => B): Seq[B] =
    if (asked.length < 2) asked.map(read)
    else {
      val answers: Seq[Either[Throwable, B]] =
        ThreadUtils.parmap(asked.toIndexedSeq, "zorder-reads", math.min(threads, asked.length)) { a =>
          // a fatal error would end the thread, and whoever waits for its answer would wait for ever
          try Right(read(a))
          catch { case e: Throwable => Left(e) }
        }
      answers.map(_.fold(e => throw e, identity))
    }
}

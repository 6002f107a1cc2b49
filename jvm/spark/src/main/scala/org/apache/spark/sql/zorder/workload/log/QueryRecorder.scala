package org.apache.spark.sql.zorder.workload.log

import scala.collection.mutable

/**
 * Counts logged queries in bounded memory and writes them in batches.
 *
 * @param most
 *   number of distinct queries to keep; later ones of another shape are left out
 * @param write
 *   takes a batch: each shape once, its weight counted
 */
final private[workload] class QueryRecorder(most: Int, write: Seq[LoggedQuery] => Unit) {
  private val shapes = mutable.HashSet.empty[String]
  private val pending = mutable.LinkedHashMap.empty[String, LoggedQuery]
  private var unwritten = 0
  private var seenQueries = 0L
  private var leftOutQueries = 0L

  /** All queries, including those left out. */
  def seen: Long = synchronized(seenQueries)

  def leftOut: Long = synchronized(leftOutQueries)

  /** Distinct queries that were kept. */
  def kept: Int = synchronized(shapes.size)

  def add(query: LoggedQuery): Unit = synchronized {
    seenQueries += 1
    if (shapes.size >= most && !shapes.contains(query.query)) leftOutQueries += 1
    else {
      shapes += query.query
      val before = pending.get(query.query)
      pending(query.query) = before.fold(query)(q => q.copy(weight = q.weight + query.weight))
      unwritten += 1
      if (unwritten >= QueryRecorder.Batch) flush()
    }
  }

  /** Writes what has been counted since the last time. What cannot be written is lost. */
  def flush(): Unit = synchronized {
    val batch = pending.values.toVector
    pending.clear()
    unwritten = 0
    if (batch.nonEmpty) write(batch)
  }
}

private[workload] object QueryRecorder {

  /** Queries between two files of a log. */
  val Batch = 1000
}

package org.apache.spark.sql.zorder.workload.log

import java.nio.charset.StandardCharsets.UTF_8
import java.security.MessageDigest
import java.sql.Timestamp

import org.apache.spark.sql.zorder.workload.predicate.Hex

/** Makes rows of the log: what looks alike gets the same hash, so that it can be counted. */
private[workload] object QueryShape {

  def logged(table: String, time: Timestamp, boxes: Seq[Seq[LoggedCondition]]): LoggedQuery =
    LoggedQuery(Some(table), Some(time), hash(table, boxes), 1.0, boxes)

  /** Sixteen hexadecimal digits. */
  def hash(table: String, boxes: Seq[Seq[LoggedCondition]]): String = {
    val digest = MessageDigest.getInstance("SHA-256").digest(s"$table\n$boxes".getBytes(UTF_8))
    Hex.write(digest.take(8)).toLowerCase(java.util.Locale.ROOT)
  }

  /** Equal queries once, their weights together; the earliest of each is kept, in order of appearance. */
  def counted(queries: Seq[LoggedQuery]): Seq[LoggedQuery] = {
    val weights = queries.groupBy(q => (q.table, q.query)).map { case (k, same) =>
      k -> same.map(_.weight).sum
    }
    val first = scala.collection.mutable.HashSet.empty[(Option[String], String)]
    queries.filter(q => first.add((q.table, q.query))).map(q => q.copy(weight = weights((q.table, q.query))))
  }
}

package org.apache.spark.sql.zorder.workload.log

import java.sql.Timestamp

import org.apache.commons.codec.binary.Hex
import org.apache.commons.codec.digest.DigestUtils

/** Makes rows of the log: what looks alike gets the same hash, so that it can be counted. */
private[workload] object QueryShape {

  def logged(table: String, time: Timestamp, boxes: Seq[Seq[LoggedCondition]]): LoggedQuery =
    LoggedQuery(Some(table), Some(time), hash(table, boxes), 1.0, boxes)

  /** Sixteen hexadecimal digits. */
  def hash(table: String, boxes: Seq[Seq[LoggedCondition]]): String =
    Hex.encodeHexString(DigestUtils.sha256(s"$table\n$boxes").take(8))

  /** Equal queries once, their weights together; the earliest of each is kept, in order of appearance. */
  def counted(queries: Seq[LoggedQuery]): Seq[LoggedQuery] = {
    val weights = queries.groupBy(q => (q.table, q.query)).map { case (k, same) =>
      k -> same.map(_.weight).sum
    }
    val first = scala.collection.mutable.HashSet.empty[(Option[String], String)]
    queries.filter(q => first.add((q.table, q.query))).map(q => q.copy(weight = weights((q.table, q.query))))
  }
}

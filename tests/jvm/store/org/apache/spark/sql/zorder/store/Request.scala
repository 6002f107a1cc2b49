package org.apache.spark.sql.zorder.store

/**
 * A line of the server's access log.
 *
 * @param action
 *   the S3 operation without its prefix, e.g. `PutObject`
 * @param key
 *   of the object, or the prefix of a list
 * @param sent
 *   bytes of the answer
 */
final private[store] case class Request(action: String, key: String, status: Int, sent: Long)

private[store] object Request {
  // owner bucket [time zone] address user id action key uri status error sent ..., where an error may be a sentence
  private val Line =
    "\\S+ \\S+ \\[.*?\\] \\S+ \\S+ \\S+ s3_(\\S+) (\\S+) (\\S+) (\\d+) .+? (\\d+|-) .*".r

  def parse(line: String): Option[Request] = line match {
    case Line(action, key, uri, status, sent) =>
      Some(Request(action, if (key == "-") uri else key, status.toInt, if (sent == "-") 0 else sent.toLong))
    case _ => None
  }
}

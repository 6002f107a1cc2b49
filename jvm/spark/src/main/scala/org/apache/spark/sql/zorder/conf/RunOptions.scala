package org.apache.spark.sql.zorder.conf

/**
 * The options of one run, merged: statement over table property over session over default.
 * None means that the default depends on the table (its own codec, row-group size, number of files).
 */
final case class RunOptions(
    targetFileSize: Option[Long] = None,
    fileCount: Option[Int] = None,
    rowGroupSize: Option[Long] = None,
    codec: Option[String] = None,
    pageRowLimit: Int = 20000,
    timestampType: String = "keep",
    verify: String = "count",
    minGain: Double = 0.1,
    force: Boolean = false,
    giveWay: Boolean = false,
    overlap: String = "exclude",
    writeBudget: Double = 5.0,
    deletedShare: Double = 0.05,
    worstFiles: Double = 1.0,
    maxInputBytes: Option[Long] = None,
    maxDurationMs: Long = 2L * 3600 * 1000,
    maxBytesInFlight: Option[Long] = None,
    queryLog: Option[String] = None,
    bloom: Seq[String] = Nil,
    location: String = "keep",
    retentionMs: Long = 7L * 24 * 3600 * 1000)

object RunOptions {

  /** Options under the keys that a session has for them, to be defaults behind the session's own values. */
  def inSession(options: Map[String, String]): Map[String, String] =
    options.map { case (name, value) => (ZOrderOption.SessionPrefix + name, value) }

  /**
   * Merges the options of one run. Names are compared without regard to case; an unknown one is refused.
   *
   * @param statement
   *   from `WITH (...)` or a builder, names without prefix
   * @param tableProperties
   *   all properties of the table; those that begin with `zorder.` count
   * @param session
   *   all keys of the session; those that begin with `spark.zorder.` count
   */
  def merge(
      statement: Map[String, String],
      tableProperties: Map[String, String],
      session: Map[String, String]): RunOptions = OptionMerge.merge(statement, tableProperties, session)

  /** Whether the files of a table may move: as in `merge`, but of all options this one alone. */
  def location(
      statement: Map[String, String],
      tableProperties: Map[String, String],
      session: Map[String, String]): String =
    OptionMerge.location(statement, tableProperties, session)

  /** How long `ZORDER VACUUM` keeps old files: property of the table over session over default. */
  def retention(tableProperties: Map[String, String], session: Map[String, String]): Long =
    OptionMerge.retention(tableProperties, session)
}

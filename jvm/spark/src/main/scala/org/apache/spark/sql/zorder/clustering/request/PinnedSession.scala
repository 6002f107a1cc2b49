package org.apache.spark.sql.zorder.clustering.request

import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession

/** The session of a run: a clone of the user's, with all settings pinned that could spoil it. */
object PinnedSession {

  /** One table of settings: key, value, why. A test sets each of them wrongly first. */
  val settings: Seq[(String, String, String)] = Seq(
    ("spark.sql.maxConcurrentOutputFileWriters", "0", "several open writers a task would lose the order"),
    ("spark.sql.files.maxRecordsPerFile", "0", "a file number is one file"),
    ("spark.sql.optimizer.plannedWrite.enabled", "true", "the write must not sort again by itself"),
    ("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED", "dates are written as they are"),
    ("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED", "timestamps are written as they are"),
    ("spark.sql.files.ignoreCorruptFiles", "false", "a file that cannot be read must stop the run"),
    ("spark.sql.files.ignoreMissingFiles", "false", "a file that vanished must stop the run"),
    (
      "spark.sql.caseSensitive",
      "true",
      "columns that differ in case only are different columns of a path's files"),
    ("spark.sql.parquet.mergeSchema", "false", "the schema is the union of the footers, computed before"),
    ("spark.sql.parquet.recordLevelFilter.enabled", "false", "a rewrite filters nothing"),
    ("spark.sql.parquet.filterPushdown", "true", "default"),
    (
      "spark.sql.sources.partitionColumnTypeInference.enabled",
      "true",
      "partition values are typed by the table"),
    ("spark.sql.parquet.binaryAsString", "false", "binary stays binary"),
    ("spark.sql.readSideCharPadding", "false", "CHAR values stay as they are, and partitions too"),
    ("spark.sql.parquet.int96AsTimestamp", "true", "default"),
    ("spark.sql.parquet.writeLegacyFormat", "false", "decimals and lists are written by the standard"),
    ("spark.sql.parquet.fieldId.write.enabled", "true", "field ids are kept"),
    ("spark.sql.parquet.fieldId.read.enabled", "false", "columns are found by name"),
    ("spark.sql.sources.partitionOverwriteMode", "static", "the staging directory is new"),
    ("spark.sql.adaptive.enabled", "false", "each file has its task, whatever Spark learns on the way"),
    ("spark.sql.sources.bucketing.enabled", "true", "default"),
    (
      "spark.sql.sources.useV1SourceList",
      "avro,csv,json,kafka,orc,parquet,text",
      "the write path that is tested"))

  /**
   * How dates before the calendar changed are read of files that do not say what calendar they mean. Where
   * the user says LEGACY, the new files have the values that the user saw; by default Spark refuses to read
   * them, and a run takes them as they are stored.
   */
  private val rebaseOnRead =
    Seq("spark.sql.parquet.datetimeRebaseModeInRead", "spark.sql.parquet.int96RebaseModeInRead")

  /** The type of written timestamps is pinned later, when the footers have shown the type of the input. */
  val TimestampType = "spark.sql.parquet.outputTimestampType"

  /** @param own those of the table whose files are read and written (`ClusterTable.settings`) */
  def of(session: ClassicSession, own: Map[String, String] = Map.empty): ClassicSession = {
    val pinned = Shims.cloneSession(session)
    settings.foreach { case (key, value, _) => pinned.conf.set(key, value) }
    rebaseOnRead.filterNot(key => session.conf.get(key).equalsIgnoreCase("LEGACY")).foreach(
      pinned.conf.set(_, "CORRECTED"))
    own.foreach { case (key, value) => pinned.conf.set(key, value) }
    pinned
  }
}

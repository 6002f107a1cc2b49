package org.apache.spark.sql.zorder.clustering.request

import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan
import org.apache.spark.sql.zorder.conf.{OptionSetting, RunOptions, ZOrderOption}
import org.apache.spark.sql.zorder.shims.Shims
import org.apache.spark.sql.zorder.shims.Shims.ClassicSession
import org.apache.spark.sql.zorder.errors.ZOrderException.refuse
import org.apache.spark.sql.zorder.table.{ClusterTable, ClusteredBy, TableRef}
import org.apache.spark.sql.zorder.querylog.QueryLog
import sparkzorder.curve.build.CurveRegistry

/**
 * One `OPTIMIZE` or `ZORDER TABLE` statement, parsed but not yet looked up.
 *
 * @param by
 *   clustering columns as SQL expressions; empty = take them from the table
 * @param curve
 *   one of `CurveRegistry.names`, if the statement names one
 * @param options
 *   the statement's own `WITH (...)`, not yet merged with those of the table and the session
 * @param into
 *   write a clustered copy there and leave the table alone
 */
final case class ClusterRequest(
    target: TableRef,
    by: Seq[String],
    full: Boolean,
    where: Option[String],
    curve: Option[String],
    options: Seq[OptionSetting],
    into: Option[String],
    dryRun: Boolean,
    statement: String) {

  /** Whether it is an `OPTIMIZE` with only clauses that Delta's own statement has, too. */
  def deltaSyntax: Boolean = statement.regionMatches(true, 0, "OPTIMIZE", 0, "OPTIMIZE".length) &&
    curve.isEmpty && options.isEmpty && into.isEmpty && !dryRun

  /** Whether it changes the table: a dry run and a copy only read it. */
  def changes: Boolean = !dryRun && into.isEmpty
}

/**
 * What every step of one batch needs to know: the statement, and the snapshot of the table that it works on.
 *
 * @param user
 *   the session of the statement; reading and writing is done in `pinned`
 * @param by
 *   the clustering columns as the statement or the table names them
 * @param log
 *   the queries of the query log on this table, read once in a statement
 * @param startedMs
 *   when the batch began
 */
final private[clustering] case class RunContext(
    user: ClassicSession,
    request: ClusterRequest,
    table: ClusterTable,
    options: RunOptions,
    progress: Progress,
    by: Seq[String],
    log: Option[QueryLog],
    startedMs: Long) {

  lazy val pinned: ClassicSession = PinnedSession.of(user, table.settings)

  /** The context of the next batch, on the table as the last one left it. */
  def next(snapshot: ClusterTable): RunContext =
    copy(
      table = snapshot,
      by = RunContext.columns(request, snapshot),
      startedMs = System.currentTimeMillis())

  /** The clustering columns, bound to rows. */
  def columnsOf(rows: LogicalPlan): Seq[ClusterColumn] =
    ColumnResolver.on(user, table.name, rows, table.constantColumns, by)

  /** The name of the curve that the layout is made by. */
  def curve: String = request.curve.getOrElse(CurveRegistry.Auto.name)

  /** Whether WHERE also takes files that only overlap the condition. */
  def overlap: Boolean = options.overlap == "include"
}

private[clustering] object RunContext {

  def of(
      user: ClassicSession,
      request: ClusterRequest,
      table: ClusterTable,
      options: RunOptions,
      progress: Progress): RunContext = new RunContext(
    user,
    request,
    table,
    options,
    progress,
    columns(request, table),
    QueryLog.of(user, options).map(_.on(user, table)),
    System.currentTimeMillis())

  /** The statement's list, else the columns that the table itself names. */
  private def columns(request: ClusterRequest, table: ClusterTable): Seq[String] =
    if (request.by.nonEmpty) request.by
    else
      ClusteredBy.of(table).getOrElse(
        refuse(
          "ZORDER_INVALID_COLUMNS.NONE_OF_THE_TABLE",
          "table" -> table.name,
          "property" -> ClusteredBy.Property))
}

/** The options of a run on a table. Advice uses the same ones, since it is about such a run. */
private[zorder] object TableOptions {

  /** Statement over table property over session over the format's own property over default. */
  def of(table: ClusterTable, statement: Seq[OptionSetting], session: ClassicSession): RunOptions = {
    // a property of the format is set for its own writers: too small a size is no reason to refuse a run
    val formats = table.formatOptions.map { case (name, value) => (name, ZOrderOption.atLeast(name, value)) }
    RunOptions.merge(statement, table.properties, RunOptions.inSession(formats) ++ session.conf.getAll)
  }
}

/** The session of a run: a clone of the user's, with all settings pinned that could spoil it. */
object PinnedSession {

  /** One table of settings: key, value, why. A test sets each of them wrongly first. */
  val settings: Seq[(String, String, String)] = Seq(
    ("spark.sql.maxConcurrentOutputFileWriters", "0", "several open writers a task would lose the order"),
    ("spark.sql.files.maxRecordsPerFile", "0", "a file number is one file"),
    ("spark.sql.optimizer.plannedWrite.enabled", "true", "the write must not sort again by itself"),
    ("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED", "dates are written as they are"),
    ("spark.sql.parquet.int96RebaseModeInWrite", "CORRECTED", "timestamps are written as they are"),
    (
      "spark.sql.parquet.datetimeRebaseModeInRead",
      "CORRECTED",
      "files without a writer's note hold proleptic dates"),
    (
      "spark.sql.parquet.int96RebaseModeInRead",
      "CORRECTED",
      "files without a writer's note hold proleptic dates"),
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
    ("spark.sql.parquet.int96AsTimestamp", "true", "default"),
    ("spark.sql.parquet.writeLegacyFormat", "false", "decimals and lists are written by the standard"),
    ("spark.sql.parquet.fieldId.write.enabled", "true", "field ids are kept"),
    ("spark.sql.parquet.fieldId.read.enabled", "false", "columns are found by name"),
    ("spark.sql.sources.partitionOverwriteMode", "static", "the staging directory is new"),
    ("spark.sql.adaptive.optimizeSkewsInRebalancePartitions.enabled", "false", "a file is not split"),
    ("spark.sql.sources.bucketing.enabled", "true", "default"),
    (
      "spark.sql.sources.useV1SourceList",
      "avro,csv,json,kafka,orc,parquet,text",
      "the write path that is tested"))

  /** The type of written timestamps is pinned later, when the footers have shown the type of the input. */
  val TimestampType = "spark.sql.parquet.outputTimestampType"

  /** @param own those of the table whose files are read and written (`ClusterTable.settings`) */
  def of(session: ClassicSession, own: Map[String, String] = Map.empty): ClassicSession = {
    val pinned = Shims.cloneSession(session)
    settings.foreach { case (key, value, _) => pinned.conf.set(key, value) }
    own.foreach { case (key, value) => pinned.conf.set(key, value) }
    pinned
  }
}

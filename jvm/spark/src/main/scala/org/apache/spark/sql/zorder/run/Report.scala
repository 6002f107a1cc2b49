package org.apache.spark.sql.zorder.run

import org.apache.spark.sql.Row
import org.apache.spark.sql.catalyst.expressions.GenericRowWithSchema
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.table.DataFile

/**
 * Share of the rows that a look-up of one value reads, averaged over the non-NULL rows of a column, at one
 * level (files, row groups or pages). None where it is not known, e.g. measured in a dry run.
 */
final case class Shares(
    now: Option[Double] = None,
    forecast: Option[Double] = None,
    measured: Option[Double] = None,
    bound: Option[Double] = None) {
  def row: Row = Row(now.orNull, forecast.orNull, measured.orNull, bound.orNull)
}

/** One clustering column in the result. */
final case class ColumnReport(name: String, files: Shares, rowGroups: Shares, pages: Shares) {
  def row: Row = Row(name, files.row, rowGroups.row, pages.row)
}

/** What a run did, in numbers: Delta's names first. */
final case class RunMetrics(
    added: Seq[DataFile] = Nil,
    removed: Seq[DataFile] = Nil,
    partitionsOptimized: Long = 0,
    batches: Long = 0,
    filesConsidered: Long = 0,
    filesSkipped: Long = 0,
    startTimeMs: Long = 0,
    endTimeMs: Long = 0,
    rows: Long = 0,
    inputBytes: Long = 0,
    targetFileSize: Long = 0,
    targetFiles: Long = 0,
    sampledRows: Long = 0,
    rowGroups: Long = 0,
    pages: Long = 0,
    stepMs: Map[String, Long] = Map.empty) {

  def row: Row = Row(
    added.length.toLong,
    removed.length.toLong,
    RunMetrics.sizes(added),
    RunMetrics.sizes(removed),
    partitionsOptimized,
    batches,
    filesConsidered,
    filesSkipped,
    startTimeMs,
    endTimeMs,
    rows,
    inputBytes,
    targetFileSize,
    targetFiles,
    sampledRows,
    rowGroups,
    pages,
    stepMs)
}

object RunMetrics {
  private val sizesType = new StructType()
    .add("min", LongType)
    .add("max", LongType)
    .add("avg", DoubleType)
    .add("totalFiles", LongType)
    .add("totalSize", LongType)

  val schema: StructType = new StructType()
    .add("numFilesAdded", LongType)
    .add("numFilesRemoved", LongType)
    .add("filesAdded", sizesType)
    .add("filesRemoved", sizesType)
    .add("partitionsOptimized", LongType)
    .add("numBatches", LongType)
    .add("totalConsideredFiles", LongType)
    .add("totalFilesSkipped", LongType)
    .add("startTimeMs", LongType)
    .add("endTimeMs", LongType)
    .add("rows", LongType)
    .add("inputBytes", LongType)
    .add("targetFileSize", LongType)
    .add("targetFiles", LongType)
    .add("sampledRows", LongType)
    .add("rowGroups", LongType)
    .add("pages", LongType)
    .add("stepMs", MapType(StringType, LongType))

  private def sizes(files: Seq[DataFile]): Row =
    if (files.isEmpty) Row(null, null, 0.0, 0L, 0L)
    else {
      val bytes = files.map(_.length)
      Row(bytes.min, bytes.max, bytes.sum.toDouble / bytes.length, bytes.length.toLong, bytes.sum)
    }
}

/** The one result row of a run and of its dry run. */
final case class RunReport(
    path: String,
    status: RunStatus,
    reason: String,
    runId: String,
    layoutChosen: String,
    metrics: RunMetrics,
    columns: Seq[ColumnReport]) {
  def row: Row = new GenericRowWithSchema(
    Array[Any](path, status.name, reason, runId, layoutChosen, metrics.row, columns.map(_.row)),
    RunReport.schema)

  def json: String = row.json
}

object RunReport {
  private val shares = new StructType()
    .add("now", DoubleType)
    .add("forecast", DoubleType)
    .add("measured", DoubleType)
    .add("bound", DoubleType)

  private val column = new StructType()
    .add("name", StringType)
    .add("files", shares)
    .add("row_groups", shares)
    .add("pages", shares)

  val schema: StructType = new StructType()
    .add("path", StringType)
    .add("status", StringType)
    .add("reason", StringType)
    .add("run_id", StringType)
    .add("layout_chosen", StringType)
    .add("metrics", RunMetrics.schema)
    .add("columns", ArrayType(column))
}

/** How a run ended. Only a conflict and real failures are errors: a no-op is green in a scheduler. */
sealed abstract class RunStatus(val name: String)

object RunStatus {
  case object Done extends RunStatus("DONE")
  case object DryRun extends RunStatus("DRY_RUN")
  case object NothingToDo extends RunStatus("NOTHING_TO_DO")
  case object NoGain extends RunStatus("NO_GAIN")
  case object TooSmall extends RunStatus("TOO_SMALL")
}

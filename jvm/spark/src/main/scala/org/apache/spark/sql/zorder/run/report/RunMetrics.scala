package org.apache.spark.sql.zorder.run.report

import org.apache.hadoop.fs.Path

import org.apache.spark.sql.Row
import org.apache.spark.sql.types._
import org.apache.spark.sql.zorder.table.file.DataFile

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
    cost: RunCost = RunCost(),
    stepMs: Map[String, Long] = Map.empty) {

  /**
   * Those of two batches of one statement, which has considered the same files twice. Files that the first
   * added and the second removed count for neither.
   */
  def and(later: RunMetrics): RunMetrics =
    net(later, added.map(RunMetrics.place).toSet, later.removed.map(RunMetrics.place).toSet)

  private def net(later: RunMetrics, before: Set[String], after: Set[String]): RunMetrics = copy(
    added = added.filterNot(f => after(RunMetrics.place(f))) ++ later.added,
    removed = removed ++ later.removed.filterNot(f => before(RunMetrics.place(f))),
    partitionsOptimized = partitionsOptimized + later.partitionsOptimized,
    batches = batches + later.batches,
    filesSkipped =
      math.max(0L, filesConsidered - removed.length - later.removed.count(f => !before(RunMetrics.place(f)))),
    endTimeMs = later.endTimeMs,
    rows = rows + later.rows,
    inputBytes = inputBytes + later.inputBytes,
    targetFiles = targetFiles + later.targetFiles,
    sampledRows = sampledRows + later.sampledRows,
    rowGroups = rowGroups + later.rowGroups,
    pages = pages + later.pages,
    cost = cost.and(later.cost),
    stepMs = later.stepMs)

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
    cost.bytesToRead,
    cost.bytesToShuffle,
    cost.localDiskBytes,
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
    .add("bytesToRead", LongType)
    .add("bytesToShuffle", LongType)
    .add("localDiskBytes", LongType)
    .add("stepMs", MapType(StringType, LongType))

  /** Formats write the scheme or leave it out. */
  private def place(file: DataFile): String = new Path(file.path).toUri.getPath

  private def sizes(files: Seq[DataFile]): Row =
    if (files.isEmpty) Row(null, null, 0.0, 0L, 0L)
    else {
      val bytes = files.map(_.length)
      Row(bytes.min, bytes.max, bytes.sum.toDouble / bytes.length, bytes.length.toLong, bytes.sum)
    }
}

package org.apache.spark.sql.zorder.table

import scala.collection.JavaConverters._

import com.fasterxml.jackson.databind.{JsonNode, ObjectMapper}
import com.fasterxml.jackson.databind.node.{ArrayNode, ObjectNode}
import org.apache.spark.sql.zorder.table.file.DataFile

/**
 * A file that a run wrote.
 *
 * @param path
 *   relative to the table root
 * @param level
 *   0 = holds rows of one file number of the layout; 1 = of a sorted run, across file numbers; 2 =
 *   gathered by region, to be put in place by a later step
 * @param fileNumber
 *   of the layout, counted within the partition; the first that the file may hold rows of, as far as known
 * @param until
 *   one past the last of them
 */
final case class RecordedFile(path: String, length: Long, level: Int, fileNumber: Int, until: Int)

/**
 * One entry of a table's history, kept as `_zorder/runs/<n>.json`.
 *
 * @param number
 *   1, 2, ... in the order of the commits; set by the commit
 * @param columns
 *   the clustering columns as SQL
 * @param layoutIds
 *   the layout of each partition directory (key "" when unpartitioned)
 * @param report
 *   the result row as JSON, for `zorder_history`
 * @param version
 *   the format's id of the commit (Delta's version, Iceberg's snapshot); set by the commit
 * @param columnIds
 *   the ids of `columns` (see `ClusterTable.columnId`); empty if columns have only names
 * @param branch
 *   of the table, if the run was not on its main one
 * @param location
 *   of plain Parquet: where the run has put its files; set by the commit
 * @param fileCount
 *   the number of files of a partition that was asked for, if the run has fitted layouts
 * @param table
 *   the format's id of the table, where a directory may be that of several
 */
final case class RunRecord(
    number: Int,
    runId: String,
    startedMs: Long,
    finishedMs: Long,
    operation: Operation,
    statement: String,
    columns: Seq[String],
    curve: String,
    layoutIds: Map[String, String],
    files: Seq[RecordedFile],
    rewritten: Seq[DataFile],
    report: String,
    version: Option[Long] = None,
    columnIds: Seq[String] = Nil,
    branch: Option[String] = None,
    location: Option[String] = None,
    fileCount: Option[Int] = None,
    table: Option[String] = None) {

  /** What later runs ask of it: without its report and the files that it read, which are most of its text. */
  def outline: RunRecord = copy(rewritten = Nil, report = RunRecord.NoReport)
}

object RunRecord {
  private val NoReport = "{}"

  /**
   * The record of a rollback. It has the id of the run that it undid, and neither of them counts any more.
   *
   * @param run
   *   a record of it, if there is one
   * @param statement
   *   that asked for it
   */
  def rolledBack(runId: String, run: Option[RunRecord], statement: String): RunRecord =
    of(Operation.Rollback, runId, statement).copy(
      columns = run.fold(Seq.empty[String])(_.columns),
      curve = run.fold("")(_.curve),
      branch = run.flatMap(_.branch),
      table = run.flatMap(_.table))

  /** The record of a commit that has no layout. */
  def of(operation: Operation, runId: String, statement: String): RunRecord = {
    val now = System.currentTimeMillis
    RunRecord(
      number = 0,
      runId,
      startedMs = now,
      finishedMs = now,
      operation = operation,
      statement = statement,
      columns = Nil,
      curve = "",
      layoutIds = Map.empty,
      files = Nil,
      rewritten = Nil,
      report = NoReport)
  }
}

/**
 * What a commit did to a table.
 *
 * @param text
 *   in the history, in run records and in journals
 */
sealed abstract class Operation(val text: String) {

  /** Whether this commit has written the files that it puts in place, so that they may be deleted if it fails. */
  def makesFiles: Boolean = this == Operation.Optimize || this == Operation.Replace
}

object Operation {

  /** A run rewrote files. */
  case object Optimize extends Operation("OPTIMIZE")

  /** The last run was undone. */
  case object Rollback extends Operation("ROLLBACK")

  /** Files that a job had written to an old place took the place of the rows that the table had there. */
  case object Replace extends Operation("REPLACE")

  /** Files that had moved were brought back to where they were before the first run. */
  case object MoveHome extends Operation("MOVE HOME")

  def of(text: String): Option[Operation] = Seq(Optimize, Rollback, Replace, MoveHome).find(_.text == text)
}

/** [[RunRecord]] as JSON and back; fields that an older version did not write read as empty. */
object RunRecordJson {

  private val mapper = new ObjectMapper()

  def write(record: RunRecord): String = mapper.writeValueAsString(node(record))

  private[table] def node(record: RunRecord): ObjectNode = {
    val node = mapper.createObjectNode()
    node.put("version", 1).put("number", record.number).put("runId", record.runId)
    node.put("startedMs", record.startedMs).put("finishedMs", record.finishedMs)
    node.put("operation", record.operation.text).put("statement", record.statement).put("curve", record.curve)
    val columns = node.putArray("columns")
    record.columns.foreach(c => columns.add(c))
    val layouts = node.putObject("layoutIds")
    record.layoutIds.toSeq.sorted.foreach { case (partition, id) => layouts.put(partition, id) }
    val files = node.putArray("files")
    record.files.foreach(f => file(files.addObject(), f))
    val rewritten = node.putArray("rewritten")
    record.rewritten.foreach(f => dataFile(rewritten.addObject(), f))
    node.put("report", record.report)
    record.version.foreach(v => node.put("version_committed", v))
    if (record.columnIds.nonEmpty) {
      val ids = node.putArray("columnIds")
      record.columnIds.foreach(id => ids.add(id))
    }
    record.branch.foreach(b => node.put("branch", b))
    record.location.foreach(l => node.put("location", l))
    record.fileCount.foreach(n => node.put("fileCount", n))
    record.table.foreach(t => node.put("table", t))
    node
  }

  /** None when the text is not a record. */
  def read(text: String): Option[RunRecord] =
    try of(mapper.readTree(text))
    catch { case _: java.io.IOException => None }

  /** None when the node is not a record. */
  private[table] def of(node: JsonNode): Option[RunRecord] =
    if (node == null || !node.hasNonNull("number") || !node.hasNonNull("runId")) None
    else Operation.of(node.path("operation").asText).map(record(node, _))

  private def record(node: JsonNode, operation: Operation): RunRecord = RunRecord(
    number = node.path("number").asInt,
    runId = node.path("runId").asText,
    startedMs = node.path("startedMs").asLong,
    finishedMs = node.path("finishedMs").asLong,
    operation = operation,
    statement = node.path("statement").asText,
    columns = each(node, "columns").map(_.asText),
    curve = node.path("curve").asText,
    layoutIds = node.path("layoutIds").fieldNames.asScala
      .map(p => p -> node.path("layoutIds").path(p).asText).toMap,
    files = each(node, "files").map { f =>
      val (level, number) = (f.path("level").asInt, f.path("file").asInt)
      val until = f.path("until").asInt(number + 1)
      RecordedFile(f.path("path").asText, f.path("length").asLong, level, number, until)
    },
    rewritten = each(node, "rewritten").map(readDataFile),
    report = node.path("report").asText,
    version = Some(node.path("version_committed")).filter(_.isNumber).map(_.asLong),
    columnIds = each(node, "columnIds").map(_.asText),
    branch = Some(node.path("branch")).filter(_.isTextual).map(_.asText),
    location = Some(node.path("location")).filter(_.isTextual).map(_.asText),
    fileCount = Some(node.path("fileCount")).filter(_.isInt).map(_.asInt),
    table = Some(node.path("table")).filter(_.isTextual).map(_.asText))

  private def file(node: ObjectNode, f: RecordedFile): Unit = {
    node.put("path", f.path).put("length", f.length).put("level", f.level).put("file", f.fileNumber)
    if (f.until != f.fileNumber + 1) node.put("until", f.until)
    ()
  }

  private def dataFile(node: ObjectNode, f: DataFile): Unit = {
    node.put("path", f.path).put("length", f.length).put("modified", f.modified)
    node.put("partition", f.partition)
    ()
  }

  private def readDataFile(f: JsonNode): DataFile = DataFile(
    f.path("path").asText,
    f.path("length").asLong,
    f.path("modified").asLong,
    f.path("partition").asText)

  /** The elements of an array; none if there is no array of this name. */
  private[table] def each(node: JsonNode, name: String): Seq[JsonNode] = node.path(name) match {
    case array: ArrayNode => array.elements.asScala.toVector
    case _ => Nil
  }
}
